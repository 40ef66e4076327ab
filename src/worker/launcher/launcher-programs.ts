import { fileURLToPath } from 'node:url'
import type { Abilities, Containment } from './messages.ts'
import { nativeLauncher } from './native-binary.ts'
import { notesDirectory } from './notes.ts'

export interface LauncherOptions {
  /** Default: the native launcher where this machine has one. */
  readonly kind?: 'native' | 'node' | 'auto' | undefined
  /**
   * Default: the strongest level that works here. A requested level that does not work is an error.
   */
  readonly containment?: Containment | 'auto' | undefined
  /** Another program in place of the packaged one, for tests. */
  readonly native?: string | undefined
  /** Another directory in place of the user's common one, for tests. */
  readonly notes?: string | undefined
  /**
   * A directory in which each native launcher holds a locked file until it is gone: see
   * lock-file.ts. The launcher in Node holds none, because it cannot find processes that broke
   * away.
   */
  readonly locks?: string | undefined
}

export interface LauncherProgram {
  readonly kind: Abilities['kind']
  readonly command: readonly string[]
}

/** Source in development, compiled in the package: below this file in both cases. */
const MAIN = fileURLToPath(new URL(`./node/main${import.meta.url.slice(-3)}`, import.meta.url))

/**
 * A fork copies the page tables of the whole process and interrupts every core its threads have run
 * on: a small, single-threaded process starts others about 10 % faster.
 */
const SMALL = ['--single-threaded', '--max-semi-space-size=1']

/** The programs that could serve as a launcher, best first, and why better ones are missing. */
export async function programsFor({
  kind = 'auto',
  containment = 'auto',
  native,
  notes = notesDirectory(),
  locks,
}: LauncherOptions): Promise<{ programs: LauncherProgram[]; why: string[]; notes: string }> {
  const programs: LauncherProgram[] = []
  const why: string[] = []
  if (kind !== 'node') {
    const found = native === undefined ? await nativeLauncher() : { path: native }
    if ('path' in found) {
      const where = locks === undefined ? [notes] : [notes, locks]
      programs.push({ kind: 'native', command: [found.path, containment, ...where] })
    } else why.push(found.why)
  }
  if (kind !== 'native') {
    if (containment === 'auto' || containment === 'group') {
      programs.push({ kind: 'node', command: [process.execPath, ...SMALL, MAIN, notes] })
    } else why.push(`the containment ${containment} needs the native launcher`)
  }
  return { programs, why, notes }
}
