import type { Direction } from '../../core/schedule/index.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import type { Terminal } from '../terminal/terminal.ts'

interface Reader extends Pick<Terminal, 'now' | 'zone'> {
  readonly direction?: Direction
}

/**
 * Reads a time in the notation for people, in a zone. The schedule rules are loaded on demand: they
 * would be most of what every other command loads.
 */
export async function readTimeFlag(text: string, reader: Reader, flag: string): Promise<number> {
  const times = await import('../../core/schedule/index.ts')
  const { now, zone, direction = 'future' } = reader
  return times.readWhen(text, { now: now(), zone, direction }, flag)
}

/** The same as text for a request. */
export async function readWhenText(text: string, reader: Reader, flag: string): Promise<string> {
  return new Date(await readTimeFlag(text, reader, flag)).toISOString()
}

/** For times at which something is to happen: a past one is a mistake, not a wish for now. */
export async function readFutureText(text: string, reader: Reader, flag: string): Promise<string> {
  const at = await readTimeFlag(text, reader, flag)
  if (at > reader.now()) return new Date(at).toISOString()
  throw new Failure(`${flag === 'when' ? '' : `${flag}: `}${text} is in the past`, {
    exitCode: EXIT.usage,
    hint: 'Choose a future time.',
  })
}

/** For flags that name a past time, where `24h` means a day ago. */
export function pastReader({ now, zone }: Pick<Terminal, 'now' | 'zone'>): Reader {
  return { now, zone, direction: 'past' }
}
