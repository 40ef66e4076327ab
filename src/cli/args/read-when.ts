import type { Terminal } from '../terminal/terminal.ts'

/**
 * A time as people say it, on the clocks of a zone. The rules of time are loaded when somebody speaks of
 * one: they would be most of what every other command has to load.
 */
export async function readWhen(
  text: string,
  { now, zone }: Pick<Terminal, 'now' | 'zone'>,
  flag: string,
): Promise<number> {
  const times = await import('../../core/schedule/index.ts')
  return times.readWhen(text, { now: now(), zone }, flag)
}
