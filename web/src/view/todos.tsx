import type { VNode } from "preact";
import type { TodoItem, TodoStatus } from "../wire.ts";
import { Icon, Spinner } from "./icons.tsx";
import { InOrder } from "./revealed.tsx";

const WORDS: Record<TodoStatus, string> = { Pending: "to do", InProgress: "being done", Completed: "done", Cancelled: "given up" };

export function Todos({ items }: { items: readonly TodoItem[] }): VNode {
  return (
    <ul class="todos">
      {items.map((item) => (
        <li class={`todo ${item.status}`}>
          <span class="todo-mark">
            <Mark status={item.status} />
            <span class="sr">{WORDS[item.status]}</span>
          </span>
          <span dir="auto"><InOrder text={item.status === "InProgress" ? (item.active_form ?? item.content) : item.content} /></span>
        </li>
      ))}
    </ul>
  );
}

function Mark({ status }: { status: TodoStatus }): VNode {
  if (status === "Completed") return <Icon name="check" />;
  if (status === "InProgress") return <Spinner />;
  if (status === "Cancelled") return <Icon name="cross" />;
  return <span class="todo-dot" />;
}
