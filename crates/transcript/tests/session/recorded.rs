//! Sessions that the CLI wrote.

use std::path::{Path, PathBuf};

use tidings_transcript::roots::Roots;
use tidings_transcript::session::{BranchState, EntryRole, Flow, Join, LaneId, Session, Trigger, View};

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sessions").join(name)
}

fn open(name: &str) -> Session {
    let found = Roots::new([fixture(name)]).scan().unwrap();
    Session::open(&found.sessions[0]).unwrap()
}

/// The messages on the active path, without entries beside it.
fn texts_of(session: &Session, view: View) -> Vec<String> {
    let leaf = session.active_leaf(LaneId::MAIN).unwrap();
    let path = session.path(leaf, view).into_iter();
    let spoken =
        path.filter(|id| !matches!(session.node(*id).part, EntryRole::Attachment | EntryRole::Injected));
    let line = |id| {
        let text: String = session.entry(id).unwrap().text().chars().take(24).collect();
        let tools: Vec<String> = session.calls_of(id).map(|tool| format!("{}()", tool.name)).collect();
        format!("{}: {text}{}", session.actor(id), tools.join(" ")).trim_end().to_owned()
    };
    spoken.map(line).collect()
}

#[test]
fn parallel_tools() {
    let session = open("parallel-tools");
    insta::assert_snapshot!(texts_of(&session, View::Unified).join("\n"), @r"
    User: go parallel
    Assistant: Three at once.
    Assistant: Bash()
    Assistant: Read()
    Assistant: Bash()
    Tool Result [Read]:
    Tool Result [Bash]:
    Tool Result [Bash]:
    Assistant: All three came back.
    ");
    assert_eq!(session.branches(LaneId::MAIN).len(), 1);
    assert!(session.tools().iter().all(|tool| tool.result.is_some()));
}

#[test]
fn parallel_agents() {
    let session = open("parallel-agents");
    let agents: Vec<String> = session
        .lanes()
        .iter()
        .filter_map(|lane| lane.agent.as_ref())
        .map(|agent| {
            let call = session.calls_of(agent.started_by.unwrap()).next().unwrap();
            assert_eq!((agent.joined_by, Some(&call.id)), (Some(Join::Sidecar), agent.tool_use_id.as_ref()));
            assert!(agent.is_complete);
            format!("{} {} {}", agent.name, agent.description.as_deref().unwrap(), agent.depth)
        })
        .collect();
    assert_eq!(agents, ["general-purpose Read util 1", "general-purpose Read readme 1"]);
    let turns = session.turns(&session.path(session.active_leaf(LaneId::MAIN).unwrap(), View::Unified));
    assert_eq!(turns.iter().map(|turn| turn.flow).collect::<Vec<_>>(), [Flow::Sidechain]);
}

#[test]
fn manual_compaction() {
    let session = open("compact-manual");
    insta::assert_snapshot!(texts_of(&session, View::Unified).join("\n"), @r"
    User: read util
    Assistant: Read()
    Tool Result [Read]:
    Assistant: It has greet and add.
    System [Compact]: Conversation compacted
    System [Compact]: This session is being co
    User [command]: <command-name>/compact</
    System: <local-command-stdout>Co
    User: continue
    Assistant: After compaction.
    ");
    insta::assert_snapshot!(texts_of(&session, View::Model).join("\n"), @r"
    System [Compact]: Conversation compacted
    System [Compact]: This session is being co
    Assistant: It has greet and add.
    User [command]: <command-name>/compact</
    System: <local-command-stdout>Co
    User: continue
    Assistant: After compaction.
    ");
    assert_eq!(session.compactions()[0].trigger, Some(Trigger::Manual));
}

#[test]
fn automatic_compaction() {
    let session = open("compact-auto");
    insta::assert_snapshot!(texts_of(&session, View::Unified).join("\n"), @r"
    User: read util
    Assistant: Read()
    Tool Result [Read]:
    System [Compact]: Conversation compacted
    System [Compact]: This session is being co
    Assistant: Continuing after the sum
    User: more
    Assistant: Next turn.
    ");
    assert_eq!(session.compactions()[0].pre_tokens, Some(186_403));
}

#[test]
fn resumed_at_an_older_line() {
    let session = open("branch");
    let branches = session.branches(LaneId::MAIN);
    assert_eq!(
        branches.iter().map(|branch| branch.state).collect::<Vec<_>>(),
        [BranchState::Active, BranchState::Abandoned]
    );
    let prompts = |leaf| {
        let path = session.path(leaf, View::Unified).into_iter();
        let prompts = path.filter(|id| session.node(*id).part == EntryRole::Prompt);
        prompts.map(|id| session.entry(id).unwrap().text()).collect::<Vec<_>>()
    };
    assert_eq!(prompts(branches[0].leaf), ["remember 7", "what did I say?"]);
    assert_eq!(prompts(branches[1].leaf), ["remember 7", "and 8"]);
}

/// The shipped sessions, and those below the folder that `TIDINGS_CORPUS` names.
#[test]
fn every_recorded_session_opens_with_every_entry_on_one_branch_of_one_lane() {
    let mut roots: Vec<PathBuf> = folders_in(&fixture(""));
    if let Some(corpus) = std::env::var_os("TIDINGS_CORPUS") {
        let more = folders_in(Path::new(&corpus)).into_iter().map(|folder| folder.join("transcript"));
        roots.extend(more.filter(|folder| folder.join("projects").is_dir()));
    }
    for root in roots {
        for files in Roots::new([&root]).scan().unwrap().sessions {
            let session = Session::open(&files).unwrap();
            let mut seen = 0;
            for lane in session.lane_ids() {
                let owned = session.branches(lane).iter().flat_map(|branch| session.own_path(branch)).count();
                assert_eq!(owned, session.lane(lane).nodes.len(), "{} lane {lane:?}", root.display());
                seen += owned;
                if let Some(agent) = &session.lane(lane).agent {
                    assert!(agent.started_by.is_some(), "{} {agent:?}", root.display());
                }
            }
            assert_eq!(seen, session.nodes().len(), "{}", root.display());
            let damaged = session.findings().iter().map(|(_, finding)| finding.rule.as_str());
            let wrong: Vec<&str> = damaged.filter(|rule| *rule != "tool-result-missing").collect();
            assert!(wrong.is_empty(), "{} {wrong:?}", root.display());
        }
    }
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let paths = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}
