"""Names that mean something else: a guest's, which is in no claim, and `all` in a selector."""


def test_a_variant_called_like_a_guest_is_refused(refused, whole):
    """It would be trained and dropped from every claim."""
    base = whole.replace("options:\n", "  free: {cell: gru, hidden: 3}\noptions:\n")
    words = "variants.guest-free: 'guest-free' given; allowed are names that do not begin with guest-"
    refused(base, "  free:", "  guest-free:", words)


def test_all_in_a_selector_is_refused_where_it_is_a_name(reported, whole):
    """Whether that condition or each of them is meant nobody could say; left out, each is meant."""
    found = reported(small=whole.replace("T100", "all"))
    told = "where.condition: 'all' means each condition and is the name of one; allowed is a list of names"
    assert [line.partition(": ")[2] for line in found] == [
        f"artefacts.{name}.{told}" for name in ("fig-1", "table-1")
    ]


def test_a_name_may_be_all_where_no_selector_says_so(reported, whole):
    assert (
        reported(small=whole.replace("T100", "all").replace("condition: all", "condition: [T50, all]")) == []
    )
