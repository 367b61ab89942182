//! One line of text about a tool call.

use std::fmt::{self, Write as _};

use super::{
    ReadInput, TaskListStatus, TaskUpdateInput, TodoWriteInput, TodoWriteItem, TodoWriteStatus, ToolInput,
};

/// Maximum length of a summary, in characters.
pub const SUMMARY_CHARS_MAX: usize = 200;

/// The summary of a tool's input.
pub(super) fn of(input: &ToolInput) -> String {
    let mut line = Line::default();
    // The only possible error is a full line.
    let _ = write_summary(&mut line, input);
    line.finish()
}

fn write_summary(line: &mut Line, input: &ToolInput) -> fmt::Result {
    match input {
        ToolInput::Bash(input) => line.write_str(&input.command),
        ToolInput::BashOutput(input) => line.write_str(&input.bash_id),
        ToolInput::Read(input) => read(line, input),
        ToolInput::Write(input) => line.write_str(&input.file_path),
        ToolInput::Edit(input) => line.write_str(&input.file_path),
        ToolInput::MultiEdit(input) => {
            let count = input.edits.as_ref().map_or(0, Vec::len);
            write!(line, "{} ({count} {})", input.file_path, if count == 1 { "edit" } else { "edits" })
        }
        ToolInput::NotebookEdit(input) => {
            line.write_str(&input.notebook_path)?;
            suffix(line, " cell ", input.cell_id.as_deref())
        }
        ToolInput::Glob(input) => {
            line.write_str(&input.pattern)?;
            suffix(line, " in ", input.path.as_deref())
        }
        ToolInput::Grep(input) => {
            line.write_str(&input.pattern)?;
            let place = input.path.as_ref().or(input.glob.as_ref()).or(input.file_type.as_ref());
            suffix(line, " in ", place.map(String::as_str))
        }
        ToolInput::ToolSearch(input) => line.write_str(&input.query),
        ToolInput::WebFetch(input) => line.write_str(&input.url),
        ToolInput::WebSearch(input) => line.write_str(&input.query),
        ToolInput::TodoWrite(input) => todos(line, input),
        ToolInput::TaskCreate(input) => line.write_str(&input.subject),
        ToolInput::TaskGet(input) => write!(line, "task {}", input.task_id),
        ToolInput::TaskUpdate(input) => task_update(line, input),
        ToolInput::TaskList(_) => line.write_str("all tasks"),
        ToolInput::TaskStop(input) => first(line, [&input.task_id, &input.shell_id]),
        ToolInput::Agent(input) => line.write_str(input.description.as_ref().unwrap_or(&input.prompt)),
        ToolInput::AskUserQuestion(input) => {
            if let Some(question) = input.questions.first() {
                line.write_str(&question.question)?;
            }
            match input.questions.len() {
                0 | 1 => Ok(()),
                several => write!(line, " (and {} more)", several - 1),
            }
        }
        ToolInput::EnterPlanMode(_) => line.write_str("enter plan mode"),
        ToolInput::ExitPlanMode(input) => {
            let plan = input.plan.as_deref().unwrap_or_default();
            line.write_str(plan.lines().find(|line| !line.trim().is_empty()).unwrap_or("leave plan mode"))
        }
        ToolInput::Skill(input) => {
            first(line, [&input.skill, &input.command])?;
            suffix(line, " ", input.args.as_deref())
        }
        ToolInput::SlashCommand(input) => line.write_str(&input.command),
        ToolInput::Monitor(input) => {
            let socket = input.ws.as_ref().and_then(|socket| socket.url.clone());
            first(line, [&input.description, &input.command, &socket])
        }
        ToolInput::Workflow(input) => first(line, [&input.name, &input.script_path, &input.script]),
        ToolInput::ListMcpResourcesTool(input) => first(line, [&input.server]),
        ToolInput::ReadMcpResourceTool(input) | ToolInput::ReadMcpResourceDirTool(input) => {
            write!(line, "{} {}", input.server, input.uri)
        }
        ToolInput::RefreshMcpTools(input) => first(line, [&input.server]),
        ToolInput::Artifact(input) => {
            suffix(line, "", input.action.as_deref())?;
            let place = [&input.title, &input.url, &input.file_path].into_iter().flatten().next();
            suffix(line, " ", place.map(String::as_str))
        }
        ToolInput::ClaudeDesign(input) => line.write_str(&input.operation),
        ToolInput::CronCreate(input) => write!(line, "{}: {}", input.cron, input.prompt),
        ToolInput::CronDelete(input) => line.write_str(&input.id),
        ToolInput::CronList(_) => line.write_str("all scheduled prompts"),
        ToolInput::EnterWorktree(input) => first(line, [&input.path, &input.name]),
        ToolInput::ExitWorktree(input) => line.write_str(&input.action),
        ToolInput::OfferChromeSetup(input) => first(line, [&input.reason]),
        ToolInput::Projects(input) => {
            line.write_str(&input.method)?;
            suffix(line, " ", input.path.as_ref().or(input.query.as_ref()).map(String::as_str))
        }
        ToolInput::ProposeSkills(input) => {
            let names = input.proposals.iter().filter_map(|proposal| proposal.name.as_deref());
            names.into_iter().try_for_each(|name| write!(line, "{name} "))
        }
        ToolInput::PushNotification(input) => line.write_str(&input.message),
        ToolInput::ReadNotifications(_) => line.write_str("read notifications"),
        ToolInput::RemoteTrigger(input) => {
            line.write_str(&input.action)?;
            suffix(line, " ", input.trigger_id.as_ref().or(input.session_id.as_ref()).map(String::as_str))
        }
        ToolInput::ReportFindings(input) => match input.findings.len() {
            1 => line.write_str("1 finding"),
            count => write!(line, "{count} findings"),
        },
        ToolInput::ScheduleWakeup(input) => {
            suffix(line, "", input.delay_seconds.map(|seconds| format!("in {seconds} s")).as_deref())?;
            suffix(line, " ", input.reason.as_deref())
        }
        ToolInput::SendFeedback(input) => line.write_str(&input.title),
        ToolInput::SetGoal(input) => line.write_str(&input.condition),
        ToolInput::ShowOnboardingRolePicker(_) => line.write_str("ask for the role"),
        ToolInput::Other(json) => line.write_str(json.raw().as_str()),
    }
}

fn read(line: &mut Line, input: &ReadInput) -> fmt::Result {
    line.write_str(&input.file_path)?;
    match (input.offset, input.limit) {
        (None, None) => {}
        (Some(from), None) => write!(line, ":{from}-")?,
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            write!(line, ":{from}-{}", from.saturating_add(limit.saturating_sub(1)))?;
        }
    }
    suffix(line, " pages ", input.pages.as_deref())
}

/// Number of finished items, and the current one.
fn todos(line: &mut Line, input: &TodoWriteInput) -> fmt::Result {
    let is = |item: &&TodoWriteItem, status: TodoWriteStatus| item.status.as_ref() == Some(&status);
    let done = input.todos.iter().filter(|item| is(item, TodoWriteStatus::COMPLETED)).count();
    write!(line, "{done} of {} done", input.todos.len())?;
    let current = input.todos.iter().find(|item| is(item, TodoWriteStatus::IN_PROGRESS));
    suffix(line, ": ", current.map(|item| item.active_form.as_ref().unwrap_or(&item.content).as_str()))
}

fn task_update(line: &mut Line, input: &TaskUpdateInput) -> fmt::Result {
    write!(line, "task {}", input.task_id)?;
    suffix(line, ": ", input.status.as_ref().map(TaskListStatus::as_str))?;
    suffix(line, ": ", input.subject.as_deref())
}

fn suffix(line: &mut Line, before: &str, text: Option<&str>) -> fmt::Result {
    text.map_or(Ok(()), |text| write!(line, "{before}{text}"))
}

fn first<const N: usize>(line: &mut Line, texts: [&Option<String>; N]) -> fmt::Result {
    texts.into_iter().flatten().next().map_or(Ok(()), |text| line.write_str(text))
}

/// A line of limited length: white space is collapsed, and a full line refuses more, so that a command of a
/// megabyte is not scanned to its end.
#[derive(Default)]
struct Line {
    text: String,
    chars: usize,
    /// Pending white space, written only if more text follows.
    gap: bool,
    full: bool,
}

impl Line {
    fn finish(mut self) -> String {
        if self.full {
            if self.chars == SUMMARY_CHARS_MAX {
                self.text.pop();
            }
            self.text.push('…');
        }
        self.text
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            // Control characters could steer a terminal.
            if character.is_whitespace() || character.is_control() {
                self.gap = !self.text.is_empty();
                continue;
            }
            let wanted = 1 + usize::from(self.gap);
            if self.chars + wanted > SUMMARY_CHARS_MAX {
                self.full = true;
                return Err(fmt::Error);
            }
            if std::mem::take(&mut self.gap) {
                self.text.push(' ');
            }
            self.text.push(character);
            self.chars += wanted;
        }
        Ok(())
    }
}
