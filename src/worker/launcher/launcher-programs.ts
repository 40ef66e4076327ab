import { fileURLToPath } from 'node:url'
import type { Abilities, Containment } from './messages.ts'
import { nativeLauncher } from './native-binary.ts'
import { notesDirectory } from './notes.ts'

export interface LauncherOptions {
  /** The native launcher where there is one for this machine, unless said otherwise. */
  readonly kind?: 'native' | 'node' | 'auto' | undefined
  /** The strongest that works here, unless said otherwise; one that does not work is an error. */
  readonly containment?: Containment | 'auto' | undefined
  /** Another program than the one that comes with us, for tests. */
  readonly native?: string | undefined
  /** Another directory for notes than the one of all workers of this user, for tests. */
  readonly notes?: string | undefined
}

export interface LauncherProgram {
  readonly kind: Abilities['kind']
  readonly command: readonly string[]
}

/** Started as source in development and compiled in the package: below this file either way. */
const MAIN = fileURLToPath(new URL(`./node/main${import.meta.url.slice(-3)}`, import.meta.url))

/**
 * A fork copies the tables of all its memory and interrupts every core its threads have run on: a small
 * process with one thread starts others a tenth faster.
 */
const SMALL = ['--single-threaded', '--max-semi-space-size=1']

/** What could serve as a launcher, best first, and why there is nothing better. */
export async function programsFor({
  kind = 'auto',
  containment = 'auto',
  native,
  notes = notesDirectory(),
}: LauncherOptions): Promise<{ programs: LauncherProgram[]; why: string[]; notes: string }> {
  const programs: LauncherProgram[] = []
  const why: string[] = []
  if (kind !== 'node') {
    const found = native === undefined ? await nativeLauncher() : { path: native }
    if ('path' in found)
      programs.push({ kind: 'native', command: [found.path, containment, notes] })
    else why.push(found.why)
  }
  if (kind !== 'native') {
    if (containment === 'auto' || containment === 'group') {
      programs.push({ kind: 'node', command: [process.execPath, ...SMALL, MAIN, notes] })
    } else why.push(`the containment ${containment} needs the native launcher`)
  }
  return { programs, why, notes }
}
