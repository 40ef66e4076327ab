import type { Terminal } from '../../src/cli/terminal.ts'

/** A terminal that remembers what was written to it. */
export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string }
  /** Presses Ctrl-C; `answer` is the key that is pressed when something is asked then. */
  interrupt(answer?: string): void
}

export function createFakeTerminal(options: {
  env: Record<string, string | undefined>
  isInteractive?: boolean
  columns?: number
  cwd?: string
}): FakeTerminal {
  const written = { out: '', err: '' }
  let wake = () => {}
  let key = 'd'
  return {
    written,
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    outBytes: (bytes) => void (written.out += Buffer.from(bytes).toString()),
    errBytes: (bytes) => void (written.err += Buffer.from(bytes).toString()),
    now: () => Date.now(),
    isInteractive: options.isInteractive ?? false,
    hasColour: false,
    columns: options.columns ?? 120,
    env: options.env,
    cwd: options.cwd ?? '/',
    nextInterrupt: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
    async askKey(question) {
      written.err += question
      return key
    },
    sleep: async () => {},
    interrupt(answer = 'd') {
      key = answer
      wake()
    },
  }
}
