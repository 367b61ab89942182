// Replacement for the `style` elements of xterm.js, which the page's content security policy does not allow.

/** An element whose text is a style sheet of the document. */
export function styleElement(): HTMLElement {
  const element = document.createElement("span");
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    element.parentNode?.removeChild(element);
  };
  return element;
}
