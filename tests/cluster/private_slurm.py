"""A Slurm on the loopback interface: configuration, key, sockets, state and logs in one folder.

    private_slurm.py start FOLDER     start, and print lines for a shell: export SLURM_CONF=... PATH=...
    private_slurm.py stop FOLDER      cancel the jobs and end every process; fails if one is left
    private_slurm.py status FOLDER    the processes, and what sinfo says

Needs root, slurmctld, slurmd, munged and the Slurm commands; no systemd, no data base. Ports are free ones,
so several can run at once. Its nodes are all this machine; each declares two GPUs, which are /dev/null and
/dev/zero: a job that asks for one sees CUDA_VISIBLE_DEVICES and finds no device. steps.log says which GPUs
each step was given. Jobs of the partition `cheap` are requeued when one of `urgent` needs their place.
"""

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

DAEMONS = ("slurmd", "slurmctld", "munged")
PARTITION = "main"
NODES = ("one", "two")
IDLE_WITHIN = 20.0
SYSTEM_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=private{controller_port}
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={controller_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmctldDebug=debug2
SlurmdLogFile={folder}/slurmd-%n.log
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={folder}/bin/note-step
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
GresTypes=gpu
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=3600
KillWait=10
SlurmctldTimeout=60
SlurmdTimeout=60
InactiveLimit=0
MailProg=/bin/true
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=2
DefMemPerCPU=500
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName={partition} Nodes=ALL Default=YES MaxTime=12:00:00 DefaultTime=00:10:00 State=UP PreemptMode=OFF
PartitionName=cheap Nodes=ALL DefaultTime=00:10:00 PriorityTier=1 PreemptMode=REQUEUE GraceTime=5
PartitionName=urgent Nodes=ALL DefaultTime=00:10:00 PriorityTier=9
"""
NODE = """\
NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory} Gres=gpu:2
"""


def environment(folder: Path) -> dict[str, str]:
    """What a process needs to talk to this Slurm: SLURM_CONF, and PATH with the wrapper of srun in front."""
    return {"SLURM_CONF": f"{folder}/slurm.conf", "PATH": f"{folder}/bin:{SYSTEM_PATH}"}


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def ask(folder: Path, *command: str) -> str:
    """What a Slurm command prints, "" if it fails or takes over 5 s."""
    try:
        done = subprocess.run(
            command, env=os.environ | environment(folder), capture_output=True, text=True, timeout=5
        )
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def write_script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def write_files(folder: Path, cpus: int, memory: int, nodes: int) -> None:
    """Write slurm.conf, gres.conf, munge's key and the scripts in bin; what an earlier start left goes."""
    for name in ("state", "spool", "munge", "bin"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    for log in folder.glob("*.log"):
        log.unlink()
    folder.chmod(0o755)
    (folder / "munge").chmod(0o711)
    key = folder / "munge" / "key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    controller_port, *node_ports = free_ports(1 + nodes)
    host = socket.gethostname().split(".")[0]
    configuration = CONFIGURATION.format(
        folder=folder, host=host, user=getpass.getuser(), controller_port=controller_port, partition=PARTITION
    )
    for name, port in zip(NODES, node_ports, strict=False):
        configuration += NODE.format(name=name, host=host, port=port, cpus=cpus, memory=memory)
    (folder / "slurm.conf").write_text(configuration, encoding="utf-8")
    (folder / "gres.conf").write_text("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n", encoding="utf-8")
    # Snakemake drops SLURM_CONF from the environment before it calls srun; this wrapper puts it back.
    srun = shutil.which("srun", path=SYSTEM_PATH)
    write_script(folder / "bin" / "srun", f'SLURM_CONF={folder}/slurm.conf exec {srun} "$@"')
    write_script(
        folder / "bin" / "note-step",
        f'echo "job=$SLURM_JOB_ID step=$SLURM_STEP_ID gpus=$CUDA_VISIBLE_DEVICES" >> {folder}/steps.log',
    )


def start(folder: Path, cpus: int, memory: int, nodes: int = 1) -> None:
    """Start the daemons and wait until all nodes (one or two, each of `cpus` and `memory` MB) are idle; on
    failure print the logs, stop and raise."""
    if processes(folder):
        raise RuntimeError(f"a private Slurm already runs in {folder}: {processes(folder)}; stop it first")
    write_files(folder, cpus, memory, nodes)
    munge = folder / "munge"
    files = {"socket": "socket", "key-file": "key", "seed-file": "seed", "log-file": "log", "pid-file": "pid"}
    commands = [
        ["munged", "--force", *(f"--{option}={munge}/{name}" for option, name in files.items())],
        ["slurmctld", "-c", "-f", f"{folder}/slurm.conf"],
        *(["slurmd", "-N", name, "-f", f"{folder}/slurm.conf"] for name in NODES[:nodes]),
    ]
    try:
        with open(folder / "start.log", "w", encoding="utf-8") as log:
            for command in commands:
                subprocess.run(
                    command,
                    env=os.environ | environment(folder),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    timeout=IDLE_WITHIN,
                    check=True,
                )
        ends = time.monotonic() + IDLE_WITHIN
        while ask(folder, "sinfo", "-h", "-p", PARTITION, "-o", "%t %D").split() != ["idle", str(nodes)]:
            if time.monotonic() > ends:
                raise TimeoutError(f"the private Slurm did not become idle within {IDLE_WITHIN:.0f} s")
            time.sleep(0.1)
    except BaseException:
        for name in ("start.log", "slurmctld.log", "slurmd-one.log"):
            if (folder / name).exists():
                print(
                    f"--- {name}", *(folder / name).read_text().splitlines()[-20:], sep="\n", file=sys.stderr
                )
        stop(folder)
        raise


def processes(folder: Path) -> dict[int, str]:
    """The daemons of this Slurm, its steps and the processes of its jobs: name by process id."""
    configuration = folder / "slurm.conf"
    if not configuration.exists():
        return {}
    cluster = configuration.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("ClusterName=")
    job, own = f"SLURM_CLUSTER_NAME={cluster}".encode(), f"SLURM_CONF={configuration}".encode()
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name = (path / "comm").read_text(encoding="utf-8").strip()
            variables = (path / "environ").read_bytes().split(b"\0")
            state = (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        daemon = own in variables and name.startswith((*DAEMONS, "slurmstepd"))
        if state != "Z" and (daemon or job in variables):
            found[int(path.name)] = name
    return found


def end(folder: Path, number: int, within: float) -> bool:
    """Send a signal to every process of this Slurm and say whether all were gone in time."""
    for process in processes(folder):
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue
    ends = time.monotonic() + within
    while processes(folder):
        if time.monotonic() > ends:
            return False
        time.sleep(0.05)
    return True


def stop(folder: Path) -> None:
    """Cancel the jobs, then end the daemons; raises RuntimeError if a process is left."""
    if "slurmctld" in processes(folder).values():
        ask(folder, "scancel", f"--user={getpass.getuser()}")
        ends = time.monotonic() + 5
        while ask(folder, "squeue", "-h").strip() and time.monotonic() < ends:
            time.sleep(0.1)
    if not end(folder, signal.SIGTERM, 10) and not end(folder, signal.SIGKILL, 5):
        raise RuntimeError(f"still running after SIGKILL: {processes(folder)}")


def main() -> None:
    """Read the command line."""
    if len(sys.argv) != 3 or sys.argv[1] not in ("start", "stop", "status"):
        sys.exit(__doc__)
    folder = Path(sys.argv[2]).absolute()
    if sys.argv[1] == "start":
        start(folder, cpus=os.cpu_count() or 1, memory=8000)
        for name, value in environment(folder).items():
            print(f"export {name}='{value}'")
    elif sys.argv[1] == "stop":
        stop(folder)
    else:
        print(processes(folder) or "nothing runs", ask(folder, "sinfo"), sep="\n")


if __name__ == "__main__":
    main()
