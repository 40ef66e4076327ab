import { PunctualError } from '../../../core/errors.ts'
import { LIMITS } from '../../../core/limits.ts'
import type { Submission as Submitted, SubmitAnswer } from '../../../core/wire/protocol.ts'
import type { SubmitOutcome } from '../../../core/wire/submit-outcome.ts'
import { readSubmission, type WireOutcome, type WireSubmission } from '../../../core/wire/runs.ts'
import { projectOf, requirePermission } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { answerRun, idempotencyKeyOf, SUBMITTING, withKey } from '../http/idempotency.ts'
import { checkInput } from '../http/input-check.ts'
import { problemOf } from '../http/problem.ts'
import { Batch, Submission } from '../../../core/schema/submission-schema.ts'

export function submitRoutes(api: Api, { clientFor }: Pick<ApiOptions, 'clientFor'>): void {
  const config = { permission: 'operate' } as const

  api.route({
    method: 'POST',
    url: '/v1/runs',
    config: { ...config, reference: SUBMITTING },
    schema: { summary: 'Submit a run', body: Submission },
    bodyLimit: LIMITS.largeBodyBytes,
    handler: async (request, reply) => {
      const submission = withKey(toSubmission(request.body, ''), idempotencyKeyOf(request))
      if (saysWhatRuns(submission)) requirePermission(request, 'define')
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
      reference: { ...SUBMITTING, answers: { 200: 'SubmittedBatch' }, gives: {} },
    },
    schema: { summary: 'Submit many runs', body: Batch },
    bodyLimit: LIMITS.batchBodyBytes,
    handler: async (request) => {
      const key = idempotencyKeyOf(request)
      const submissions = request.body.runs.map((run, index) => {
        const at = `runs.${index}.`
        const submission = toSubmission(run, at)
        return withKey(submission, key && `${key}#${index}`, at)
      })
      if (submissions.some(saysWhatRuns)) requirePermission(request, 'define')
      const client = clientFor(projectOf(request), request.caller.tokenId)
      const outcomes = await client.submitEach(submissions)
      return { runs: outcomes.map((outcome, index) => writeOutcome(outcome, index, request.id)) }
    },
  })
}

/** Whoever may name a secret may have it printed, so it goes with the command. */
function saysWhatRuns({ work, secrets }: Submitted): boolean {
  return work !== undefined || secrets !== undefined
}

/** The refusal of one run stands in its place: the others are stored. */
function writeOutcome(outcome: SubmitOutcome, index: number, requestId: string): WireOutcome {
  if (!(outcome instanceof PunctualError)) return outcome
  const { field, ...problem } = problemOf(outcome, requestId)
  return { error: { ...problem, ...(field ? { field: `runs.${index}.${field}` } : {}) } }
}

function toSubmission(wire: WireSubmission, at: string): Submitted {
  checkInput(wire.input, `${at}input`)
  return readSubmission(wire, at)
}
