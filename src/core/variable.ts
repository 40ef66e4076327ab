/** Names that variables of a process can have. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

const OWN = /^PUNCTUAL_|^TRACEPARENT$/

/** Whether Punctual sets it for every process. */
export function isOwnVariable(name: string): boolean {
  return OWN.test(name)
}
