import type { WireStep, WireStepItem } from '../../core/workflow/views/step-views.ts'
import type { CancelAnswer } from '../../core/wire/protocol.ts'
import { LIMITS } from '../../core/limits.ts'
import { isFinal } from '../../core/run/run-state.ts'
import { everyPage } from '../find/every-page.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { stepPath } from '../find/find-step.ts'
import type { ServerCalls } from '../server/server-calls.ts'

/** Cancels the run of a workflow step, or the runs of its items that have not ended. */
export async function cancelStep(
  calls: ServerCalls,
  id: string,
  name: string,
): Promise<{ answer: object; name: string; humanText: string }> {
  const step = await calls.call<WireStep>('GET', stepPath(id, name))
  const runs = (await runsOf(calls, id, step)).flatMap(({ run }) =>
    run && !isFinal(run.state) ? [run.id] : [],
  )
  if (runs.length === 0) {
    throw new Failure(`${name} has no active run: it is ${step.state}`, {
      exitCode: EXIT.conflict,
      next: `punctual steps ${id}`,
    })
  }
  const answers: CancelAnswer[] = []
  for (const run of runs) {
    try {
      answers.push(await calls.call<CancelAnswer>('POST', `/v1/runs/${run}/cancel`))
    } catch (error) {
      // Items may end while others are cancelled.
      if (!(error instanceof Failure) || error.exitCode !== EXIT.conflict) throw error
    }
  }
  const [only] = step.items === null ? answers : []
  const what = only ? only.id : `${answers.length} items`
  return {
    answer: only ?? { run: id, step: name, cancelled: answers.map((one) => one.id) },
    name: only?.id ?? id,
    humanText: `${name} of ${id} was asked to stop: ${what}`,
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
