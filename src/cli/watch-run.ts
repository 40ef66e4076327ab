import { bytesOf } from '../core/output.ts'
import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'
import type { ServerCalls } from './server-calls.ts'
import { paint, type Terminal } from './terminal.ts'

export interface RunEnd {
  readonly state: string
  readonly exit_code: number | null
  readonly signal: string | null
}

interface OutputEvent {
  readonly attempt: number
  readonly entries: readonly (readonly [ms: number, stream: string, text: string])[]
}

/** What is done with what a run prints: shown as it is, or not at all. */
export type OnOutput = (stream: string, text: string) => void

/** Passes on what a run prints, stream by stream, byte by byte. */
export function printOutput(terminal: Terminal): OnOutput {
  return (stream, text) => {
    if (stream === 'stdout') terminal.outBytes(bytesOf(text))
    else if (stream === 'stderr') terminal.errBytes(bytesOf(text))
    else terminal.err(paint(terminal, 'grey', text))
  }
}

/**
 * Follows a run until it has ended. Ctrl-C asks whether to let it go or to stop it; where there is
 * nobody to ask, it is let go.
 */
export async function watchRun(
  id: string,
  {
    calls,
    terminal,
    onOutput,
    query = '',
  }: {
    calls: ServerCalls
    terminal: Terminal
    onOutput: OnOutput
    query?: string
  },
): Promise<RunEnd> {
  const detached = new AbortController()
  const follow = async (): Promise<RunEnd | undefined> => {
    const path = `/v1/runs/${id}/logs/follow${query}`
    for await (const { event, data } of calls.events(path, detached.signal)) {
      if (event === 'end') return data as RunEnd
      for (const [, stream, text] of (data as OutputEvent).entries) onOutput(stream, text)
    }
    return undefined
  }
  const followed = follow()
  for (;;) {
    const end = await Promise.race([
      followed,
      terminal.nextInterrupt().then(() => 'interrupt' as const),
    ])
    if (end !== 'interrupt' && end !== undefined) return end
    const key = end === 'interrupt' ? await askWhatToDo(terminal) : 'd'
    if (key === 'c') {
      await calls.call('POST', `/v1/runs/${id}/cancel`).catch(() => {})
      terminal.err('told to stop …\n')
    } else if (key === 'd') {
      detached.abort()
      throw new Failure(`${id} goes on without you`, {
        exitCode: EXIT.interrupted,
        hint: `punctual logs -f ${id}`,
      })
    }
  }
}

async function askWhatToDo(terminal: Terminal): Promise<string> {
  if (!terminal.isInteractive) return 'd'
  const key = await terminal.askKey(
    '\n[d] detach, it goes on   [c] cancel it   [Enter] keep watching ',
  )
  // A second Ctrl-C is an answer too.
  return key === '\u0003' ? 'd' : key.toLowerCase()
}
