//! A tool that the model can call: a name, a description and an async function.

use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use rmcp::handler::server::tool::{IntoCallToolResult, schema_for_input, schema_for_output};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject, ToolAnnotations};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A tool that the model can call: a name, a description, and an async function.
///
/// The function takes a struct that implements `Deserialize` and `JsonSchema`; arguments that do not match it
/// are reported to the model, which then tries again. It returns a `String`,
/// [`Structured`](super::Structured) JSON, one [`ContentBlock`] such as an image, a whole [`CallToolResult`],
/// or a `Result` of these with a [`Failure`](super::Failure), whose text is for the model. If the call is
/// cancelled, the function is dropped at its next `await`.
#[derive(Clone)]
#[must_use]
pub struct Tool {
    pub(super) about: rmcp::model::Tool,
    /// The reason why the arguments are not valid for a tool.
    pub(super) misfit: Option<String>,
    run: Arc<Run>,
}

type Run =
    dyn Fn(JsonObject, RequestContext<RoleServer>) -> BoxFuture<'static, Reply> + Send + Sync + 'static;
type Reply = Result<CallToolResponse, ErrorData>;

impl Tool {
    /// A tool whose arguments are a struct.
    pub fn new<A, F, R>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        Tool::with_context(name, description, move |arguments, _| run(arguments))
    }

    /// A tool whose function also takes the request context: for the caller, for progress, or for cleanup on
    /// cancellation.
    pub fn with_context<A, F, R>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        F: Fn(A, RequestContext<RoleServer>) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        let (schema, misfit) = match schema_for_input::<A>() {
            Ok(schema) => (schema, None),
            Err(misfit) => (Arc::default(), Some(misfit)),
        };
        let name = name.into();
        let called = name.clone();
        let run = move |arguments, context| -> BoxFuture<'static, Reply> {
            match serde_json::from_value::<A>(Value::Object(arguments)) {
                Ok(arguments) => {
                    let running = run(arguments, context);
                    Box::pin(async move { running.await.into_call_tool_result() })
                }
                Err(error) => {
                    let text = format!("The arguments of `{called}` are invalid: {error}");
                    Box::pin(std::future::ready(Ok(failure(text))))
                }
            }
        };
        Tool { about: rmcp::model::Tool::new(name, description.into(), schema), misfit, run: Arc::new(run) }
    }

    /// A tool whose arguments are described by a JSON Schema and passed as raw JSON.
    pub fn with_schema<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: JsonObject,
        run: F,
    ) -> Self
    where
        F: Fn(JsonObject) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        let object = schema.get("type").is_some_and(|kind| kind == "object");
        let mut tool = Tool::with_context(name, description, move |arguments: JsonObject, _| run(arguments));
        tool.misfit = (!object).then(|| "the schema does not describe an object".to_owned());
        tool.about.input_schema = Arc::new(schema);
        tool
    }

    /// Sets the display name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.about.title = Some(title.into());
        self
    }

    /// Marks the tool as read-only.
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only(true))
    }

    /// Marks the tool as destructive.
    pub fn destructive(self) -> Self {
        self.annotate(|hints| hints.read_only(false).destructive(true))
    }

    /// Marks the tool as one that changes something, but only adds.
    pub fn additive(self) -> Self {
        self.annotate(|hints| hints.read_only(false).destructive(false))
    }

    /// Marks the tool as idempotent: a second call with the same arguments changes nothing more.
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent(true))
    }

    /// Marks the tool as reaching out to the world, as a web search does.
    pub fn open_world(self) -> Self {
        self.annotate(|hints| hints.open_world(true))
    }

    /// Marks the tool as working on a closed set of things, as a memory does.
    pub fn closed_world(self) -> Self {
        self.annotate(|hints| hints.open_world(false))
    }

    /// Sets the schema of its [structured](super::Structured) results.
    pub fn returns<T: JsonSchema + 'static>(mut self) -> Self {
        self.about.output_schema = Some(schema_for_output::<T>());
        self
    }

    /// Loads the tool from the start, rather than after a tool search.
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Sets keywords by which a tool search finds it.
    pub fn search_hint(self, text: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", text.into())
    }

    /// Sets the number of characters of a result that the model gets; a longer result is written to a file.
    pub fn max_result_chars(self, most: usize) -> Self {
        self.meta("anthropic/maxResultSizeChars", most)
    }

    /// Ends the turn after the tool has run.
    pub fn ends_turn(self) -> Self {
        self.meta("claude/endTurn", true)
    }

    /// Sets any other key of the tool's `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.about.meta.get_or_insert_with(MetaObject::new).0.insert(key.into(), value.into());
        self
    }

    /// The name, without that of its server.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Calls the function. Every failure becomes an answer for the model.
    pub(super) async fn call(&self, arguments: JsonObject, context: RequestContext<RoleServer>) -> Reply {
        let cancelled = context.ct.clone();
        // Called inside the future, so that a panic of the function itself is caught too.
        let running = async { (self.run)(arguments, context).await };
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Ok(failure("The call was cancelled")),
            reply = super::guard::catch(running) => {
                reply.unwrap_or_else(|_| Ok(failure(format!("The tool `{}` failed", self.name()))))
            }
        }
    }

    fn annotate(mut self, change: impl FnOnce(ToolAnnotations) -> ToolAnnotations) -> Self {
        self.about.annotations = Some(change(self.about.annotations.take().unwrap_or_default()));
        self
    }
}

/// A result that reports a failure.
pub(super) fn failure(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("about", &self.about).finish_non_exhaustive()
    }
}
