//! Our own enums whose variants have names, each declared in one table.

/// Declares an enum with the names of its variants, and the list of all.
macro_rules! named {
    (
        $(#[$meta:meta])*
        pub enum $Type:ident { $( $(#[$variant:meta])* $Variant:ident = $name:literal, )+ }
    ) => {
        $(#[$meta])*
        pub enum $Type { $( $(#[$variant])* $Variant, )+ }

        impl $Type {
            /// All of them, in the order of their declaration.
            pub const ALL: [$Type; [$( $name ),+].len()] = [$( $Type::$Variant ),+];

            /// The name on the command line and in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $( $Type::$Variant => $name, )+ }
            }
        }
    };
}

pub(crate) use named;

/// `a, b or c`, for hints.
pub(crate) fn alternatives(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use crate::agents::AgentKind;
    use crate::cost::CostBy;

    #[test]
    fn hints_list_every_name() {
        let error = "x".parse::<CostBy>().unwrap_err();
        assert!(CostBy::ALL.iter().all(|by| error.hint().contains(by.as_str())), "{error}");
        let error = "x".parse::<AgentKind>().unwrap_err();
        assert!(AgentKind::ALL.iter().all(|kind| error.hint().contains(kind.as_str())), "{error}");
        assert_eq!(super::alternatives(&["a", "b", "c"]), "a, b or c");
    }

    #[test]
    fn a_name_is_the_same_in_json() {
        for by in CostBy::ALL {
            assert_eq!(serde_json::to_value(by).unwrap(), by.as_str());
            assert_eq!(by.as_str().parse::<CostBy>().unwrap(), by);
        }
    }
}
