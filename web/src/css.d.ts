declare module "*/main.css";

/** Style sheets of packages are text, which a script adds to the document. */
declare module "*/xterm.css" {
  const text: string;
  export default text;
}
