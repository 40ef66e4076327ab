import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Submission as Submitted, SubmitAnswer } from '../../../core/wire/protocol.ts'
import type { SubmitOutcome } from '../../../core/wire/submit-outcome.ts'
import { readSubmission, type WireOutcome, type WireSubmission } from '../../../core/wire/runs.ts'
import type { Pausing } from '../../../core/pausing.ts'
import { runInSlices } from '../../loops/run-in-slices.ts'
import { projectOf, requirePermission } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { answerRun, idempotencyKeyOf, SUBMIT_DOCS, withKey } from '../http/idempotency.ts'
import { checkingInput, checkInput, checkSmallInput } from '../http/validation/input-check.ts'
import { problemOf } from '../http/problem.ts'
import { validateStepwise } from '../http/validation/stepwise-validation.ts'
import { BatchSchema, SubmissionSchema } from '../../../core/schema/submission-schema.ts'

export function submitRoutes(
  api: Api,
  { clientFor, clock }: Pick<ApiOptions, 'clientFor' | 'clock'>,
): void {
  const config = { permission: 'operate' } as const

  api.route({
    method: 'POST',
    url: '/v1/runs',
    config: { ...config, reference: SUBMIT_DOCS },
    schema: { summary: 'Submit a run', body: SubmissionSchema },
    bodyLimit: LIMITS.largeBodyBytes,
    handler: async (request, reply) => {
      await checkInput(request.body.input, 'input', clock)
      const submission = withKey(readSubmission(request.body), idempotencyKeyOf(request))
      if (choosesCommand(submission)) requirePermission(request, 'define')
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const [answer] = await client.submit([submission])
      return answerRun(request, reply, answer as SubmitAnswer)
    },
  })

  api.route({
    method: 'POST',
    url: '/v1/runs::batch',
    config: {
      ...config,
      reference: { ...SUBMIT_DOCS, answers: { 200: 'SubmittedBatch' }, gives: {} },
    },
    schema: { summary: 'Submit many runs', body: BatchSchema },
    bodyLimit: LIMITS.batchBodyBytes,
    validatorCompiler: validateStepwise(api, clock),
    handler: async (request) => {
      const key = idempotencyKeyOf(request)
      const submissions = await runInSlices(reading(request.body.runs, key), clock)
      if (submissions.some(choosesCommand)) requirePermission(request, 'define')
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const outcomes = await client.submitEach(submissions)
      return { runs: outcomes.map((outcome, index) => writeOutcome(outcome, index, request.id)) }
    },
  })
}

/**
 * A caller that may name a secret can have it printed, so secrets need the same permission as the
 * command.
 */
function choosesCommand({ work, secrets }: Submitted): boolean {
  return work !== undefined || secrets !== undefined
}

/** The refusal of one run takes its position in the answer: the other runs are stored. */
function writeOutcome(outcome: SubmitOutcome, index: number, requestId: string): WireOutcome {
  if (!(outcome instanceof PunctualError)) return outcome
  const { field, ...problem } = problemOf(outcome, requestId)
  return { error: { ...problem, ...(field ? { field: `runs.${index}.${field}` } : {}) } }
}

function* reading(runs: readonly WireSubmission[], key: string | undefined): Pausing<Submitted[]> {
  const submissions: Submitted[] = []
  for (const [index, run] of runs.entries()) {
    const at = `runs.${index}.`
    const field = `${at}input`
    if (!checkSmallInput(run.input, field)) yield* checkingInput(run.input, field)
    submissions.push(withKey(readSubmission(run, at), key && `${key}#${index}`, at))
    yield
  }
  return submissions
}
