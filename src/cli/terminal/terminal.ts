/** The input and output of a command; tests replace it. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** Passes on the output of runs unchanged. */
  outBytes(bytes: Uint8Array): void
  errBytes(bytes: Uint8Array): void
  /** Wall time, for ages. */
  now(): number
  /** Monotonic time in milliseconds, for waiting. */
  mono(): number
  readonly isInteractive: boolean
  readonly hasColour: boolean
  /** Infinity if the output is not a terminal. */
  readonly columns: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** A directory for small facts that may be lost; undefined if there is none. */
  readonly stateDirectory: string | undefined
  /** The time zone of the user. */
  readonly zone: string
  /** Resolves with the next Ctrl-C. Without a pending call, Ctrl-C ends the program. */
  nextInterrupt(): Promise<void>
  /** Asks for one key; only on an interactive terminal. */
  askKey(question: string): Promise<string>
  /**
   * Reads a secret value: a hidden prompt on a terminal, otherwise all of standard input. Undefined
   * if the user cancelled.
   */
  readSecret(question: string): Promise<string | undefined>
  /**
   * Reads standard input to its end, or to one byte more than `mostBytes`. Undefined if it is a
   * terminal, a device such as `/dev/null`, or closed.
   */
  readInput(mostBytes: number): Promise<Uint8Array> | undefined
  /** Ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

const CODES = { red: 31, green: 32, yellow: 33, blue: 34, grey: 90, bold: 1 } as const
export type Colour = keyof typeof CODES

export function paint({ hasColour }: Pick<Terminal, 'hasColour'>, colour: Colour, text: string) {
  return hasColour ? `\u001B[${CODES[colour]}m${text}\u001B[0m` : text
}

const STATES: Readonly<Record<string, readonly [glyph: string, colour: Colour]>> = {
  blocked: ['◷', 'grey'],
  scheduled: ['◷', 'grey'],
  ready: ['◷', 'grey'],
  running: ['▶', 'blue'],
  succeeded: ['✔', 'green'],
  failed: ['✖', 'red'],
  cancelled: ['⊘', 'grey'],
  skipped: ['⤼', 'grey'],
}

/** A state as glyph, word and colour: none of them alone carries the meaning. */
export function showState(terminal: Pick<Terminal, 'hasColour'>, state: string): string {
  const [glyph, colour] = STATES[state] ?? ['?', 'grey']
  return paint(terminal, colour, `${glyph} ${state}`)
}

/** Removes control characters: text from others must not move the cursor or change colours. */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex -- removes control characters
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\uDC80-\uDCFF]/g, '�')
}
