// ---- functions of a vector -------------------------------------------------------------------------------

// x = n log 2 + r with n whole and |r| <= log 2 / 2: `shifted` holds n in its lowest bits.
template <class Vec> struct Split {
  static constexpr bool single = sizeof(real) == 4;
  static constexpr int mantissa = single ? 23 : 52;
  static constexpr whole bias = single ? 127 : 1023;
  Vec shifted, r;

  INLINE explicit Split(Vec x) {
    constexpr real magic = single ? 12582912.0 : 6755399441055744.0;  // 1.5 * 2^(digits - 1): rounds to whole numbers
    constexpr real log2_high = single ? 0.693359375 : 0.693145751953125;
    constexpr real log2_low = single ? -2.12194440e-4 : 1.42860682030941723212e-6;
    shifted = x * real(1.4426950408889634) + magic;
    const Vec n = shifted - magic;
    r = (x - n * log2_high) - n * log2_low;
  }

  // 2^(n - less), for n - less within the exponents of normal numbers.
  INLINE Vec scale(whole less) const {
    return (Vec)(((whole_of<Vec>)shifted << mantissa) + ((bias - less) << mantissa));
  }

  // (e^r - 1 - r) / r^2
  INLINE Vec rest() const {
    Vec p;
    if constexpr (single) {
      p = splat<Vec>(real(1.9875691500e-4));
      p = p * r + real(1.3981999507e-3);
      p = p * r + real(8.3334519073e-3);
      p = p * r + real(4.1665795894e-2);
      p = p * r + real(1.6666665459e-1);
      p = p * r + real(5.0000001201e-1);
    } else {
      constexpr double inverse_factorials[] = {1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0,
        1 / 362880.0, 1 / 40320.0, 1 / 5040.0, 1 / 720.0, 1 / 120.0, 1 / 24.0, 1 / 6.0, 0.5};
      p = splat<Vec>(real(inverse_factorials[0]));
      UNROLL for (int i = 1; i < 12; ++i) p = p * r + real(inverse_factorials[i]);
    }
    return p;
  }
};

// A NaN stays a NaN.
template <class Vec> static INLINE Vec within(Vec x, real bound) {
  const Vec most = splat<Vec>(bound), low = x < -most ? -most : x;
  return low > most ? most : low;
}

// e^x to 2 ulp; 0 and infinity outside the range of `real`, NaN stays.
template <class Vec> static INLINE Vec exponential(Vec x) {
  constexpr bool single = sizeof(real) == 4;
  constexpr real low = single ? -86.5 : -707.5, high = single ? 88.72283 : 709.78271289338397;
  const Split<Vec> s(x < low ? splat<Vec>(low) : x > high ? splat<Vec>(high) : x);
  const Vec p = s.rest() * (s.r * s.r) + (s.r + real(1));
  const Vec y = (p * s.scale(1)) * real(2);  // in two steps, so that n may be the largest
  return x < low ? splat<Vec>(0) : x > high ? splat<Vec>(std::numeric_limits<real>::infinity()) : y;
}

// 1 / (1 + e^-x); what is cut off from x does not change it: that far out it is 1, or below the normal numbers and so 0.
template <class Vec> static INLINE Vec sigmoid(Vec x) {
  const Split<Vec> s(within(-x, sizeof(real) == 4 ? 88 : 709));
  const Vec p = s.rest() * (s.r * s.r) + (s.r + real(1));
  return real(1) / (p * s.scale(0) + real(1));
}

// m / (m + 2) with m = e^2x - 1 = 2^n (e^r - 1) + (2^n - 1), which loses no digits near zero; 1 beyond what is cut off.
template <class Vec> static INLINE Vec hyperbolic_tangent(Vec x) {
  const Split<Vec> s(within(x + x, sizeof(real) == 4 ? 40 : 80));
  const Vec scale = s.scale(0), m = (s.rest() * (s.r * s.r) + s.r) * scale + (scale - real(1));
  return m / (m + real(2));
}

static INLINE float root(float x) { return __builtin_sqrtf(x); }
static INLINE double root(double x) { return __builtin_sqrt(x); }

template <class Vec> static INLINE Vec square_root(Vec x) {
  Vec y;
  UNROLL for (int i = 0; i < lanes<Vec>; ++i) y[i] = root(x[i]);
  return y;
}

// log x to 2 ulp, by x = 2^n m with m in [sqrt 1/2, sqrt 2) and the odd powers of (m - 1) / (m + 1); -infinity for 0,
// NaN below. Denormals are zero here.
template <class Vec> static INLINE Vec logarithm(Vec x) {
  using Whole = whole_of<Vec>;
  constexpr bool single = sizeof(real) == 4;
  constexpr int mantissa = single ? 23 : 52;
  constexpr whole root_half = single ? whole(0x3f3504f3) : whole(0x3fe6a09e667f3bcdLL);
  const Whole n = ((Whole)x - root_half) >> mantissa;
  const Vec m = (Vec)((Whole)x - (n << mantissa));
  const Vec exponent = __builtin_convertvector(n, Vec);
  const Vec s = (m - real(1)) / (m + real(1)), z = s * s;
  constexpr int terms = single ? 5 : 11;
  Vec p = splat<Vec>(real(1) / real(2 * terms + 1));
  UNROLL for (int i = terms - 1; i > 0; --i) p = p * z + real(1) / real(2 * i + 1);
  constexpr real log2_high = single ? 0.693359375 : 0.693145751953125;
  constexpr real log2_low = single ? -2.12194440e-4 : 1.42860682030941723212e-6;
  const Vec y = exponent * log2_high + (exponent * log2_low + (s + s) * (p * z) + (s + s));
  constexpr real infinite = std::numeric_limits<real>::infinity();
  const Vec outside = x == real(0) ? splat<Vec>(-infinite) : x == infinite ? x : splat<Vec>(0) / real(0);
  return (x > real(0)) & (x < infinite) ? y : outside;
}

// log(1 + e^x), exact far out on both sides.
template <class Vec> static INLINE Vec soft_positive_part(Vec x) {
  const Vec e = exponential(x > 0 ? -x : x), u = real(1) + e;
  const Vec small = u == real(1) ? e : logarithm(u) * (e / (u - real(1)));
  return (x < 0 ? Vec{} : x) + small;
}

// A NaN stays a NaN, so that a replica that diverges is seen.
template <class Vec> static INLINE Vec positive_part(Vec x) { return x < 0 ? Vec{} : x; }
template <class Vec> static INLINE Vec where_positive(Vec g, Vec y) { return y <= 0 ? Vec{} : g; }

