// What the agent does: a long turn with many calls, then answers of different shapes, 200 pieces a second.

/** Pieces of seven characters, one each five milliseconds: 200 a second for six seconds. */
const PACE = "pace = { chunk_chars = 7, chunk_delay_ms = 5 }";
const CHARS = 8400;

export const ANSWERS = {
  "one long paragraph": filled(() => "Word after word, **bold** and `code`, goes by. "),
  "prose with code, lists and tables": filled(
    (at) =>
      `## Part ${at}\n\n${"Word after word, **bold** and `code`, goes by. ".repeat(4)}\n\n- one item with **bold**\n- two \`code\`\n\n\`\`\`rust\nfn part_${at}() {\n    println!("{}", ${at});\n}\n\`\`\`\n\n| a | b |\n|---|---|\n| ${at} | 2 |\n\n`,
  ),
  "one long list": filled((at) => `${at}. item with **bold** and \`code\`\n   - something below it\n`),
  "one long code block": filled((at) => `${at === 1 ? "```rust\n" : ""}    let value_${at} = turn(&value); // and on\n`),
  "one long table": filled((at) => `${at === 1 ? "| a | b | c |\n|---|---|---|\n" : ""}| row ${at} | **bold** | \`code\` |\n`),
};

function filled(part) {
  let text = "";
  for (let at = 1; text.length < CHARS; at += 1) text += part(at);
  return text;
}

/** A call and its answer are eight events. */
export function script(calls) {
  const steps = Array.from({ length: calls }, (_, at) => `
[[turn]]
[[turn.block]]
text = "Step ${at}: a look at the **next** file, with \`code\` and a [link](https://example.com/${at})."
[[turn.block]]
tool = "Read"
input = { file_path = "/home/dev/demo/file${at}.py" }
result = "1\\tdef step():\\n2\\t    return ${at}"
`);
  const answers = Object.entries(ANSWERS).map(([name, text]) => `
[[turn]]
when = { last_contains = ${JSON.stringify(name)} }
repeat = true
optional = true
text = ${JSON.stringify(text)}
${PACE}
`);
  return `${answers.join("")}${steps.join("")}
[[turn]]
text = "All steps are done."
`;
}
