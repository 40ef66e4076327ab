import { PunctualError } from '../../core/errors.ts'
import { EXECUTORS } from '../../core/work/work.ts'
import { parseAllowList } from '../../outbound/allow-list.ts'
import { parseAllowedMount } from '../../worker/executors/container/allowed-mounts.ts'
import type { Engine } from '../../worker/executors/container/engine.ts'
import { findEngine } from '../../worker/executors/container/find-engine.ts'
import { refuseMovable } from '../../worker/executors/container/movable-mounts.ts'
import type { WorkerOptions } from '../../worker/index.ts'
import type { ExecutorFlags } from './executor-flags.ts'

type Offer = Pick<WorkerOptions, 'http' | 'containers' | 'executors'>

/**
 * Decides which executors a worker offers. A requested engine must work; if none is mentioned, it
 * is detected if `detectsEngines`, and otherwise not used.
 */
export async function readExecutors(
  flags: ExecutorFlags,
  { detectsEngines }: { detectsEngines: boolean },
): Promise<Offer> {
  const wanted = flags.executors?.split(',')
  const unknown = wanted?.find((name) => !EXECUTORS.some((known) => known === name))
  if (unknown !== undefined) {
    throw wrong('executors', `has "${unknown}", and not one of ${EXECUTORS.join(', ')}`)
  }
  const allowMounts = (flags.allowMount ?? []).map(parseAllowedMount)
  refuseMovable(allowMounts)
  const allow = parseAllowList(flags.allowAddress ?? [])
  const isAskedFor = flags.containerEngine !== undefined || wanted?.includes('container') === true
  const isRuledOut = wanted !== undefined && !wanted.includes('container')
  const isTried = isAskedFor || (detectsEngines && !isRuledOut)
  const engine = isTried ? await findEngine(flags.containerEngine, flags.engineArg) : undefined
  if (engine && 'missing' in engine && isAskedFor) throw wrong('container-engine', engine.missing)
  return {
    http: { allow },
    ...(isEngine(engine) && { containers: { engine, allowMounts, args: flags.containerArg } }),
    ...(wanted && { executors: wanted }),
  }
}

function isEngine(found: Engine | { missing: string } | undefined): found is Engine {
  return found !== undefined && 'command' in found
}

function wrong(field: string, what: string): PunctualError {
  return new PunctualError('config_invalid', `${field}: ${what}`, { field })
}
