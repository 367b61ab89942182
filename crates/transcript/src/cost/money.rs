//! Dollars as integers, so that sums do not drift.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Serialize, Serializer};

/// Dollars in integer units of 10⁻¹², so that sums do not drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money(u128);

/// Number of units in a dollar.
const DOLLAR: u128 = 1_000_000_000_000;

impl Money {
    /// No money.
    pub const ZERO: Money = Money(0);

    /// The price of `count` items, at a price in units.
    pub(super) fn of(count: u64, price: u128) -> Self {
        Money(u128::from(count).saturating_mul(price))
    }

    /// A multiple of the amount.
    pub(super) fn times(self, factor: u32) -> Self {
        Money(self.0.saturating_mul(u128::from(factor)))
    }

    /// The amount in units.
    pub(super) fn parts(self) -> u128 {
        self.0
    }

    pub(super) fn from_parts(parts: u128) -> Self {
        Money(parts)
    }

    /// An amount in dollars; `None` if it is negative or not finite.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the amount is checked, and a saturating cast is right beyond the range"
    )]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        (dollars.is_finite() && dollars >= 0.0).then(|| Money((dollars * DOLLAR as f64).round() as u128))
    }

    /// The nearest double. It prints as the exact amount up to 15 digits.
    pub fn dollars(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::MAX)
    }

    /// Rounded to cents, for display: `$1234.56`.
    pub fn cents(self) -> String {
        let cents = self.0.saturating_add(DOLLAR / 200) / (DOLLAR / 100);
        let (dollars, cents) = (cents / 100, cents % 100);
        format!("${dollars}.{cents:02}")
    }
}

/// All digits, without trailing zeros.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / DOLLAR, self.0 % DOLLAR);
        let part = format!("{part:012}");
        match part.trim_end_matches('0') {
            "" => write!(f, "{whole}"),
            part => write!(f, "{whole}.{part}"),
        }
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.dollars())
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(amounts: I) -> Money {
        amounts.fold(Money::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_small_amounts_add_up_to_the_last_digit() {
        // 0.1 has no exact binary representation; as doubles the sum would be off in the tenth digit.
        let sum: Money = (0..10_000_000).map(|_| Money::of(1, 100_000)).sum();
        assert_eq!(sum.to_string(), "1");
        assert_eq!(serde_json::to_string(&(sum + Money::of(1, 12_500_000))).unwrap(), "1.0000125");
    }

    #[test]
    fn cents_are_rounded() {
        for (parts, shown) in [
            (0, "$0.00"),
            (4_999_999_999, "$0.00"),
            (5_000_000_000, "$0.01"),
            (1_234_567_891_000_000_000, "$1234567.89"),
            (999_995_000_000_000, "$1000.00"),
        ] {
            assert_eq!(Money(parts).cents(), shown);
        }
    }
}
