import type { Clock } from '../../../core/clock.ts'
import type { Execution } from '../../../core/worker/execution.ts'
import type { LimitBound, LimitBounds } from '../../../core/work/limit-bounds.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import type { ProcessWork } from '../../../core/work/work.ts'
import type { AttemptHooks, UnderWay } from '../../attempts/running-attempt.ts'
import type { LauncherOptions } from '../../launcher/launcher.ts'
import { killLeftovers } from '../../launcher/leftovers.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { machineMonoNs } from '../../clock/system-clock.ts'
import { createFileRoom } from './attempt-files.ts'
import { createFullnessWatch } from './fullness-watch.ts'
import { type Host, introduce, refuseHost } from './host.ts'
import { findUsers } from './local-users.ts'
import { removeDeadRooms } from './worker-directory.ts'
import { letThrough } from './command.ts'
import { openLaunchers } from './launcher-pool.ts'
import { ProcessAttempt, type ProcessDeps } from './process-attempt.ts'
import { createShelf, type Shelf } from '../../output/output-buffer.ts'

/** What is needed to begin, and who is told how it went. */
export interface Opening {
  readonly clock: Clock
  onError(error: unknown): void
  /** So many processes of a worker that was killed were still there, and are gone now. */
  onLeftovers(count: number): void
}

export interface ProcessOptions {
  /** Processes that start the processes. */
  readonly launchers?: number | undefined
  /** Where processes start that do not say where. */
  readonly directory?: string | undefined
  /** Names of variables of this worker's own environment that its processes may see. */
  readonly passEnv?: readonly string[] | undefined
  /** Limits of commands that name none, and the most they may name. */
  readonly limits?: LimitBounds | undefined
  /** Users of this machine that commands may ask to run as. */
  readonly allowUsers?: readonly string[] | undefined
  /** Whom commands run as that do not ask; the worker's own user if absent. */
  readonly runAs?: string | undefined
  /** Commands may run as root: whoever watches is not warned of it. */
  readonly allowRoot?: boolean | undefined
  /** Which launcher starts them, and how surely it must hold them; the best there is if absent. */
  readonly launcher?: LauncherOptions['kind']
  readonly containment?: LauncherOptions['containment']
  /** For people who watch the worker. */
  readonly echo?: ProcessDeps['echo']
}

/** Everything a worker needs to run processes. */
export interface Processes {
  /** What the worker says of them when it registers. */
  readonly introduction: { readonly users: readonly string[]; readonly execution: Execution }
  readonly shelf: Shelf
  begin(assignment: Assignment, work: ProcessWork, hooks: AttemptHooks): UnderWay
  /** Everything it started may live this much longer. */
  renew(leftMs: number): void
  /** For a thread that renews it by itself. */
  readonly lifeline: number
  /** Ends what is still there; resolves when it is gone. */
  close(): Promise<void>
}

const OUTPUT: LimitBound = { usual: 64 * 1024 ** 2, most: LIMITS.mostOutputBytes }
const MS = 1_000_000

export async function openProcesses(
  options: ProcessOptions,
  { clock, onError, onLeftovers }: Opening,
): Promise<Processes> {
  const allowed = options.allowUsers ?? []
  const users = await findUsers(options.runAs ? [...allowed, options.runAs] : allowed)
  // Before anything is taken: what is given out may be what still runs here.
  const leftovers = killLeftovers()
  if (leftovers > 0) onLeftovers(leftovers)
  void removeDeadRooms(onError).catch(onError)
  const shelf = createShelf()
  const lifeline = openLifelineFile()
  const launchers = await openLaunchers(options.launchers ?? 1, lifeline.fd, {
    kind: options.launcher,
    containment: options.containment,
    clock,
    onError,
  })
  const host: Host = {
    bounds: { output: OUTPUT, ...options.limits },
    users,
    usualUser: options.runAs,
    abilities: launchers.abilities,
    uid: process.getuid?.(),
    isRootMeant: options.allowRoot ?? false,
  }
  const problem = refuseHost(host)
  if (problem) {
    await launchers.close()
    lifeline.close()
    throw problem
  }
  const room = createFileRoom({ clock, onError })
  const fullness = createFullnessWatch(clock)

  const deps: ProcessDeps = {
    room,
    environment: letThrough(process.env, options.passEnv),
    directory: options.directory ?? process.cwd(),
    host,
    fullness,
    launcher: launchers.pick,
    onOutput: shelf.add,
    onSilent: shelf.remove,
    echo: options.echo,
  }

  return {
    introduction: introduce(host, allowed),
    shelf,
    lifeline: lifeline.fd,
    begin: (assignment, work, hooks) => new ProcessAttempt(assignment, work, hooks, deps),
    renew(leftMs) {
      lifeline.renew(machineMonoNs() + BigInt(Math.max(0, Math.floor(leftMs * MS))))
    },
    async close() {
      fullness.close()
      await launchers.close()
      lifeline.close()
      await room.close()
    },
  }
}
