//! Damage for tests.

use proptest::prelude::*;

/// A kind of damage to the bytes of a file.
#[derive(Debug, Clone)]
pub(crate) enum Harm {
    Cut(prop::sample::Index, usize),
    Overwrite(prop::sample::Index, Vec<u8>),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

/// Any such damage.
pub(crate) fn harm() -> impl Strategy<Value = Harm> {
    let bytes = || {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 1..20),
            prop::collection::vec(prop::sample::select(&b"\0\n\r {}[]\",:\\\xff"[..]), 1..20),
        ]
    };
    prop_oneof![
        (any::<prop::sample::Index>(), 1usize..300).prop_map(|(at, len)| Harm::Cut(at, len)),
        (any::<prop::sample::Index>(), bytes()).prop_map(|(at, bytes)| Harm::Overwrite(at, bytes)),
        (any::<prop::sample::Index>(), bytes()).prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        (any::<prop::sample::Index>(), 1usize..300).prop_map(|(at, len)| Harm::Repeat(at, len)),
    ]
}

/// The file after all damage.
pub(crate) fn harmed(mut file: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        let (Harm::Cut(at, _) | Harm::Overwrite(at, _) | Harm::Insert(at, _) | Harm::Repeat(at, _)) = harm;
        let at = at.index(file.len() + 1);
        let until = |len: usize| (at + len).min(file.len());
        match harm {
            Harm::Cut(_, len) => drop(file.drain(at..until(*len))),
            Harm::Overwrite(_, bytes) => {
                let end = until(bytes.len());
                file[at..end].copy_from_slice(&bytes[..end - at]);
            }
            Harm::Insert(_, bytes) => drop(file.splice(at..at, bytes.iter().copied())),
            Harm::Repeat(_, len) => {
                let part = file[at..until(*len)].to_vec();
                file.splice(at..at, part);
            }
        }
    }
    file
}
