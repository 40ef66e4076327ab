import type { Clock } from '../../../core/clock.ts'
import type { ContainerWork } from '../../../core/work/container-work.ts'
import type { LimitBounds } from '../../../core/work/limit-bounds.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { createAttemptFileStore } from '../files/attempt-files.ts'
import type { AttemptHooks, RunningAttempt } from '../../attempts/running-attempt.ts'
import type { PrintingDeps } from '../../attempts/printing-attempt.ts'
import type { AllowedMount } from './allowed-mounts.ts'
import { ContainerAttempt, type ContainerDeps } from './container-attempt.ts'
import type { Engine } from './engine.ts'
import { EngineLaunchers } from './engine-launchers.ts'
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
  const launchers = new EngineLaunchers(lifeline, { clock, onError })

  const attemptDeps: ContainerDeps = {
    ...deps.printing,
    engine,
    allowMounts,
    args,
    bounds: limits,
    fileStore,
    launchers,
    janitor,
    removals,
    owner: ownOwner(),
  }
  return {
    begin(assignment, work, hooks) {
      return new ContainerAttempt(assignment, work, hooks, attemptDeps)
    },
    sweep,
    async close() {
      await sweep.close()
      await launchers.close()
      await removals.close()
      const detached = new AbortController()
      const closing = janitor.close().finally(() => detached.abort())
      await Promise.race([closing, clock.sleep(CLOSE_MS, detached.signal)])
      janitor.detach()
      await fileStore.close()
    },
  }
}
