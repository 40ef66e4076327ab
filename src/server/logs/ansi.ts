/**
 * Terminal control sequences: colours, cursor movements, titles, links. They stay in the stored
 * log; searches ignore them, because users do not search for them.
 */
const ESCAPE = 0x1b
const SEQUENCE =
  // Strings until their end (titles, links), control sequences, and what is two characters long.
  // oxlint-disable-next-line no-control-regex -- what it is for
  /\u001B(?:[\]PX^_][^\u0007\u001B\n]{0,4096}(?:\u0007|\u001B\\)|\[[0-?]{0,64}[ -/]{0,8}[@-~]|[ -/]{0,8}[0-Z\\^-~])/g

export function stripAnsi(bytes: Buffer): Buffer {
  if (!bytes.includes(ESCAPE)) return bytes
  return Buffer.from(bytes.toString('latin1').replace(SEQUENCE, ''), 'latin1')
}

/** Like `stripAnsi`, line by line. */
export function stripAnsiText(text: string): string {
  return text.includes('\u001B') ? text.replace(SEQUENCE, '') : text
}
