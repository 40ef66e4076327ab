import type { Clock } from '../../../core/clock.ts'
import type { ContainerWork } from '../../../core/container-work.ts'
import type { LimitBounds } from '../../../core/limit-bounds.ts'
import type { Assignment } from '../../../core/protocol.ts'
import { createFileRoom } from '../../processes/attempt-files.ts'
import { type LauncherPool, openLaunchers } from '../../processes/launcher-pool.ts'
import type { AttemptHooks, UnderWay } from '../../under-way.ts'
import type { PrintingDeps } from '../printing-attempt.ts'
import type { AllowedMount } from './allowed-mounts.ts'
import { ContainerAttempt } from './container-attempt.ts'
import { ask, type Engine, removalOf } from './engine.ts'
import { removeLeftovers } from './find-engine.ts'
import { createJanitor } from './janitor.ts'
import { ownOwner } from './owner.ts'

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
  /** Ends what is still there; resolves when it is gone. */
  close(): Promise<void>
}

const REMOVALS = 3

export function openContainers(
  options: ContainerOptions,
  deps: {
    readonly printing: PrintingDeps
    readonly lifeline: number
    readonly clock: Clock
    onError(error: unknown): void
  },
): Containers {
  const { engine, allowMounts = [], args = [], limits = {} } = options
  const { clock, lifeline, onError } = deps
  const room = createFileRoom({ clock, onError })
  const swept = removeLeftovers(engine, onError)
  const janitor = createJanitor(engine, lifeline)
  let launchers: Promise<LauncherPool> | undefined

  /** The plain launcher: the engine's command is no place to be contained, it must see the machine. */
  const launcher = async () => {
    launchers ??= openLaunchers(1, lifeline, {
      ...{ kind: 'node', containment: 'group', onError },
      sleep: (ms) => clock.sleep(ms),
    })
    return (await launchers).pick()
  }

  const remove = async (name: string): Promise<boolean> => {
    for (let tries = 1; ; tries += 1) {
      const { ok, complaint } = await ask(engine, removalOf(engine, [name]))
      if (ok) return true
      if (tries < REMOVALS) continue
      onError(new Error(`the container ${name} could not be removed: ${complaint}`))
      return false
    }
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
      remove,
      owner: ownOwner(),
    },
  }
  return {
    begin: (assignment, work, hooks) => new ContainerAttempt(assignment, work, hooks, attemptDeps),
    async close() {
      await swept
      await (await launchers)?.close()
      await janitor.close()
      await room.close()
    },
  }
}
