import type { Terminal } from '../../src/cli/terminal/terminal.ts'

/** A terminal that records its output. */
export interface FakeTerminal extends Terminal {
  readonly written: { out: string; err: string }
  /** Presses Ctrl-C; `answer` is the key pressed at a prompt. */
  interrupt(answer?: string): void
  /** Wakes every sleeper. */
  passTime(): void
}

export function createFakeTerminal(options: {
  env: Record<string, string | undefined>
  isInteractive?: boolean
  columns?: number
  cwd?: string
  zone?: string
  stateDirectory?: string
  /** The content of standard input. */
  input?: string | undefined
  /** The content of a pipe on standard input; without it standard input is a terminal. */
  piped?: Promise<Uint8Array> | undefined
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
    mono: () => performance.now(),
    isInteractive: options.isInteractive ?? false,
    hasColour: false,
    columns: options.columns ?? 120,
    env: options.env,
    cwd: options.cwd ?? '/',
    stateDirectory: options.stateDirectory,
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
    readInput: () => options.piped,
    // With an abort signal, sleeps until it fires or a test lets time pass; without one, does not sleep at all.
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
