import type { VNode } from "preact";
import type { TodoItem, TodoStatus } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const WORDS: Record<TodoStatus, string> = { Pending: "to do", InProgress: "being done", Completed: "done", Cancelled: "given up" };

/** `busy`: an agent works on the list now; a stored list shows no spinner. */
export function Todos({ items, busy }: { items: readonly TodoItem[]; busy: boolean }): VNode {
  return (
    <ul class="todos">
      {items.map((item) => (
        <li class={`todo ${item.status}`}>
          <span class="todo-mark">
            <Mark status={item.status} busy={busy} />
            <span class="sr">{WORDS[item.status]}</span>
          </span>
          <span dir="auto"><InOrder text={item.status === "InProgress" ? (item.active_form ?? item.content) : item.content} /></span>
        </li>
      ))}
    </ul>
  );
}

function Mark({ status, busy }: { status: TodoStatus; busy: boolean }): VNode {
  if (status === "Completed") return <Icon name="check" />;
  if (status === "InProgress") return busy ? <Spinner /> : <span class="todo-dot begun" />;
  if (status === "Cancelled") return <Icon name="cross" />;
  return <span class="todo-dot" />;
}
