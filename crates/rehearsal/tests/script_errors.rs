//! Errors in scripts name the line, the key and what was expected.

use insta::assert_snapshot;
use tidings_rehearsal::script::Script;

fn mistake(text: &str) -> String {
    Script::parse(text).map_or_else(|error| error.to_string(), |script| format!("no mistake: {script:?}"))
}

#[test]
fn mistakes_are_named_with_their_line_and_what_to_write() {
    let cases = [
        "[[turn]]\ntxet = \"hi\"\n",
        "[[turn]]\ntext = 5\n",
        "[[turn]]\ntext = \"hi\n",
        "[[turn]]\ntext = \"a\"\n[[turn]]\n",
        "[[turn]]\ntext = \"a\"\n\n[[turn.block]]\ntext = \"b\"\n",
        "[[turn]]\n[[turn.block]]\ninput = { a = 1 }\n",
        "[[turn]]\n[[turn.block]]\ntext = \"a\"\nthinking = \"b\"\n",
        "[[turn]]\n[[turn.block]]\ntext = \"a\"\nresult = \"b\"\n",
        "[[turn]]\n[[turn.block]]\ntext = \"a\"\n[[turn.block]]\ntool = \"Bash\"\nreslut = \"b\"\n",
        "[[turn]]\n[[turn.block]]\ntext = \"a\"\n[[turn.block]]\nraw = { x = 1 }\n",
        "[[turn]]\n[[turn.block]]\ntext = \"a\"\nflagged = \"b\"\n",
        "[[turn]]\n[[turn.block]]\ntool = \"Bash\"\nflagged = \" \"\n",
        "[[turn]]\nerror = { status = 200 }\n",
        "[[turn]]\nwhen = { contians = \"x\" }\ntext = \"a\"\n",
        "[[fault]]\nkind = \"nois\"\n",
        "[[fault]]\nkind = \"noise\"\n",
        "[[expect]]\nname = \"nothing\"\n",
    ];
    assert_snapshot!(cases.map(mistake).join("\n"));
}
