import type { Clock } from '../../../core/clock.ts'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import type { LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { createAttemptFileStore } from '../process/attempt-files.ts'
import { type LauncherPool, openLaunchers } from '../process/launcher-pool.ts'
import type { AttemptHooks, RunningAttempt } from '../../attempts/running-attempt.ts'
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
  /** Host directories that containers may mount; none if absent. */
  readonly allowMounts?: readonly AllowedMount[] | undefined
  /** Arguments added to every `run` of the engine. */
  readonly args?: readonly string[] | undefined
  /** Default and maximum limits of containers. */
  readonly limits?: LimitBounds | undefined
}

/** Everything a worker needs to run containers. */
export interface Containers {
  begin(assignment: Assignment, work: ContainerWork, hooks: AttemptHooks): RunningAttempt
  /** Containers are not offered until the sweep is done. */
  readonly sweep: Pick<Sweep, 'isDone' | 'finished'>
  /** Removes the remaining containers and resolves when they are gone. */
  close(): Promise<void>
}

/**
 * How long a shutdown waits for an engine that does not answer; the janitor continues afterwards.
 */
const CLOSE_MS = 10_000

export async function openContainers(
  options: ContainerOptions,
  deps: {
    readonly printing: PrintingDeps
    readonly lifeline: number
    readonly clock: Clock
    onError(error: unknown): void
    /** Containers can be offered now. */
    onLate(): void
    /** A container that could not be removed at the end of its attempt is gone now. */
    onRemoved(name: string): void
  },
): Promise<Containers> {
  const { engine, allowMounts = [], args = [], limits = {} } = options
  const { clock, lifeline, onError } = deps
  const fileStore = createAttemptFileStore({ clock, onError })
  const sweep = await openSweep(engine, deps)
  const janitor = createJanitor(engine, lifeline, { clock, onError })
  const removals = createRemovals(engine, {
    clock,
    onError,
    onLate(name) {
      janitor.release(name)
      deps.onRemoved(name)
    },
  })
  let launchers: Promise<LauncherPool> | undefined

  /** The launcher without containment: the engine's command must see the whole machine. */
  const launcher = async () => {
    launchers ??= openLaunchers(1, lifeline, {
      kind: 'node',
      containment: 'group',
      clock,
      onError,
    }).catch((error: unknown) => {
      // The next try may find what was missing this time.
      launchers = undefined
      throw error
    })
    return (await launchers).pick()
  }

  const attemptDeps = {
    ...deps.printing,
    engine,
    allowMounts,
    args,
    bounds: limits,
    fileStore,
    launcher,
    janitor,
    remove: removals.remove,
    owner: ownOwner(),
  }
  return {
    begin: (assignment, work, hooks) => new ContainerAttempt(assignment, work, hooks, attemptDeps),
    sweep,
    async close() {
      await sweep.close()
      // A launcher that could not be started has nothing to close, and its attempt has reported the
      // error.
      await (await launchers?.catch(() => undefined))?.close()
      await removals.close()
      const detached = new AbortController()
      const closing = janitor.close().finally(() => detached.abort())
      await Promise.race([closing, clock.sleep(CLOSE_MS, detached.signal)])
      janitor.detach()
      await fileStore.close()
    },
  }
}
