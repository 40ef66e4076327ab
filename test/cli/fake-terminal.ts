import type { Terminal } from '../../src/cli/terminal/terminal.ts'

/** A terminal that remembers what was written to it. */
export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string }
  /** Presses Ctrl-C; `answer` is the key that is pressed when something is asked then. */
  interrupt(answer?: string): void
  /** Wakes everybody who sleeps. */
  passTime(): void
}

export function createFakeTerminal(options: {
  env: Record<string, string | undefined>
  isInteractive?: boolean
  columns?: number
  cwd?: string
  zone?: string
  /** What is on standard input. */
  input?: string | undefined
}): FakeTerminal {
  const written = { out: '', err: '' }
  let wake = () => {}
  let key = 'd'
  const sleepers: (() => void)[] = []
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
    zone: options.zone ?? 'UTC',
    nextInterrupt: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
    async askKey(question) {
      written.err += question
      return key
    },
    readSecret: async () => options.input,
    // Whoever may be woken sleeps until then, or until a test lets time pass; others do not sleep at all.
    sleep: (_ms, signal) =>
      new Promise((resolve) => {
        if (!signal || signal.aborted) return resolve()
        signal.addEventListener('abort', () => resolve())
        sleepers.push(resolve)
      }),
    passTime() {
      for (const rouse of sleepers.splice(0)) rouse()
    },
    interrupt(answer = 'd') {
      key = answer
      wake()
    },
  }
}
