import type { Clock } from '../../../core/clock.ts'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import type { LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { createFileRoom } from '../process/attempt-files.ts'
import { type LauncherPool, openLaunchers } from '../process/launcher-pool.ts'
import type { AttemptHooks, UnderWay } from '../../attempts/running-attempt.ts'
import type { PrintingDeps } from '../../attempts/printing-attempt.ts'
import type { AllowedMount } from './allowed-mounts.ts'
import { ContainerAttempt } from './container-attempt.ts'
import type { Engine } from './engine.ts'
import { createJanitor } from './janitor.ts'
import { ownOwner } from './owner.ts'
import { createRemovals } from './removals.ts'
import { openSweep, type Sweep } from './sweep.ts'

export interface ContainerOptions {
  readonly engine: Engine
  /** What of this machine containers may see; nothing if absent. */
  readonly allowMounts?: readonly AllowedMount[] | undefined
  /** Added to every `run` of the engine. */
  readonly args?: readonly string[] | undefined
  /** Limits of containers that name none, and the most they may name. */
  readonly limits?: LimitBounds | undefined
}

/** Everything a worker needs to run containers. */
export interface Containers {
  begin(assignment: Assignment, work: ContainerWork, hooks: AttemptHooks): UnderWay
  /** Until it is done, they are not offered. */
  readonly sweep: Pick<Sweep, 'isDone' | 'over'>
  /** Ends what is still there; resolves when it is gone. */
  close(): Promise<void>
}

/** What a goodbye may take when the engine does not let go; the janitor goes on without us. */
const GOODBYE_MS = 10_000

export async function openContainers(
  options: ContainerOptions,
  deps: {
    readonly printing: PrintingDeps
    readonly lifeline: number
    readonly clock: Clock
    onError(error: unknown): void
    /** They can be offered now. */
    onLate(): void
    /** One that could not be removed at the end of its attempt is gone now. */
    onRemoved(name: string): void
  },
): Promise<Containers> {
  const { engine, allowMounts = [], args = [], limits = {} } = options
  const { clock, lifeline, onError } = deps
  const room = createFileRoom({ clock, onError })
  const sweep = await openSweep(engine, deps)
  const janitor = createJanitor(engine, lifeline, { clock, onError })
  const removals = createRemovals(engine, {
    ...{ clock, onError },
    onLate(name) {
      janitor.release(name)
      deps.onRemoved(name)
    },
  })
  let launchers: Promise<LauncherPool> | undefined

  /** The plain launcher: the engine's command is no place to be contained, it must see the machine. */
  const launcher = async () => {
    launchers ??= openLaunchers(1, lifeline, {
      ...{ kind: 'node', containment: 'group', clock, onError },
    }).catch((error: unknown) => {
      // What this one lacked, the next may find.
      launchers = undefined
      throw error
    })
    return (await launchers).pick()
  }

  const attemptDeps = {
    ...deps.printing,
    ...{
      engine,
      allowMounts,
      args,
      bounds: limits,
      room,
      launcher,
      janitor,
      remove: removals.remove,
      owner: ownOwner(),
    },
  }
  return {
    begin: (assignment, work, hooks) => new ContainerAttempt(assignment, work, hooks, attemptDeps),
    sweep,
    async close() {
      await sweep.close()
      // One that could not be started has nothing to close, and whoever asked for it knows.
      await (await launchers?.catch(() => undefined))?.close()
      await removals.close()
      const parted = new AbortController()
      const goodbye = janitor.close().finally(() => parted.abort())
      await Promise.race([goodbye, clock.sleep(GOODBYE_MS, parted.signal)])
      janitor.part()
      await room.close()
    },
  }
}
