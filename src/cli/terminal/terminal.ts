/** What a command writes to and reads from; tests bring their own. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** What runs print is passed on as it is. */
  outBytes(bytes: Uint8Array): void
  errBytes(bytes: Uint8Array): void
  /** Wall time, for ages. */
  now(): number
  readonly isInteractive: boolean
  readonly hasColour: boolean
  /** Without a terminal there is no end to a line. */
  readonly columns: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** On whose clocks this person lives. */
  readonly zone: string
  /** Resolves with the next Ctrl-C. Until somebody asks, one ends the program. */
  nextInterrupt(): Promise<void>
  /** Asks for one key; only where there is a person. */
  askKey(question: string): Promise<string>
  /**
   * A value that nobody should see: asked for without showing it, or all of standard input where that
   * is no terminal. Undefined if whoever was asked would rather not.
   */
  readSecret(question: string): Promise<string | undefined>
  /** Ends early, without a fuss, when it is no longer wanted. */
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

/** A glyph, a word and a colour: none of them alone has to carry the meaning. */
export function showState(terminal: Pick<Terminal, 'hasColour'>, state: string): string {
  const [glyph, colour] = STATES[state] ?? ['?', 'grey']
  return paint(terminal, colour, `${glyph} ${state}`)
}

/** Text of others must not move the cursor, or colour what is not theirs. */
export function harmless(text: string): string {
  // oxlint-disable-next-line no-control-regex -- what it is for
  return text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\uDC80-\uDCFF]/g, '�')
}
