import type { WireStep, WireStepItem } from '../../core/workflow/step-views.ts'
import type { CancelAnswer } from '../../core/wire/protocol.ts'
import { LIMITS } from '../../core/limits.ts'
import { isFinal } from '../../core/run/run-state.ts'
import { everyPage } from '../find/every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { stepPath } from '../find/find-step.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Stops what a step of a workflow runs: its own run, or those of its items that have not ended. */
export async function cancelStep(
  calls: ServerCalls,
  id: string,
  name: string,
): Promise<{ answer: object; name: string; people: string }> {
  const step = await calls.call<WireStep>('GET', stepPath(id, name))
  const runs = (await runsOf(calls, id, step)).flatMap(({ run }) =>
    run && !isFinal(run.state) ? [run.id] : [],
  )
  if (runs.length === 0) {
    throw new Failure(`nothing of ${name} is under way: it is ${step.state}`, {
      exitCode: EXIT.conflict,
      next: `punctual steps ${id}`,
    })
  }
  const told: CancelAnswer[] = []
  for (const run of runs) {
    try {
      told.push(await calls.call<CancelAnswer>('POST', `/v1/runs/${run}/cancel`))
    } catch (error) {
      // Items end while others are told.
      if (!(error instanceof Failure) || error.exitCode !== EXIT.conflict) throw error
    }
  }
  const [only] = step.items === null ? told : []
  const what = only ? only.id : `${told.length} items`
  return {
    answer: only ?? { run: id, step: name, cancelled: told.map((one) => one.id) },
    name: only?.id ?? id,
    people: `${name} of ${id} was told to stop: ${what}`,
  }
}

async function runsOf(
  calls: ServerCalls,
  id: string,
  step: WireStep,
): Promise<readonly Pick<WireStepItem, 'run'>[]> {
  if (step.items === null) return [step]
  return everyPage<WireStepItem>(calls, `${stepPath(id, step.name)}/items?`, LIMITS.steps)
}
