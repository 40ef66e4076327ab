import { Type } from 'typebox'
import type { Json } from '../../../core/expression/expression.ts'
import { STEP_STATES } from '../../../core/workflow/step-views.ts'
import { LIMITS } from '../../../core/limits.ts'
import { projectOf } from '../http/access.ts'
import type { Api, ApiOptions } from '../http/api.ts'
import { fields, name, oneOf, text, wholeNumber } from '../../../core/schema/fields.ts'
import { checkInput } from '../http/input-check.ts'
import {
  byOf,
  cursorParameter,
  IdPath,
  limitParameter,
  NamePath,
  Paging,
  readPaging,
  runId,
  whenGone,
} from '../http/request.ts'

const reason = Type.Optional(text(LIMITS.reasonLength))

export const StepApproval = fields({ input: Type.Optional(Type.Unknown()), message: reason })
export const StepRefusal = fields({ message: reason })
export const StepSkip = fields({ item: Type.Optional(wholeNumber(0, LIMITS.steps - 1)) })

const StepPath = fields({ id: Type.String(), step: name() })
const ListParameters = fields({
  state: Type.Optional(oneOf(STEP_STATES)),
  limit: limitParameter,
  cursor: cursorParameter,
})
const STEP_URL = '/v1/runs/:id/steps/:step'

/** The steps of workflows: how they are, and what people decide about them. */
export function stepRoutes(api: Api, { admin }: Pick<ApiOptions, 'admin'>): void {
  const { steps } = admin
  const params = StepPath
  const looking = { permission: 'read' } as const
  const deciding = { permission: 'operate', bodyIsOptional: true } as const
  const unknown = ['run_not_found', 'step_not_found'] as const
  const decided = {
    answers: { 200: 'Step' },
    problems: [...unknown, 'step_not_waiting', 'run_is_final'],
  } as const

  api.route({
    method: 'GET',
    url: '/v1/runs/:id/steps',
    config: { ...looking, reference: { answers: { 200: 'StepPage' }, problems: unknown } },
    schema: { summary: 'List the steps of a run', params: IdPath, querystring: ListParameters },
    handler: (request) => {
      const { state } = request.query
      const query = { state, ...readPaging(request.query) }
      return steps.steps(projectOf(request), runId(request.params.id), query)
    },
  })

  api.route({
    method: 'GET',
    url: STEP_URL,
    config: { ...looking, reference: { answers: { 200: 'Step' }, problems: unknown } },
    schema: { summary: 'Show a step of a run', params },
    handler: (request) => {
      const { id, step } = request.params
      return steps.step(projectOf(request), runId(id), step)
    },
  })

  api.route({
    method: 'GET',
    url: `${STEP_URL}/items`,
    config: { ...looking, reference: { answers: { 200: 'StepItemPage' }, problems: unknown } },
    schema: { summary: 'List the items of a fan-out', params, querystring: Paging },
    handler: (request) => {
      const { id, step } = request.params
      return steps.items(projectOf(request), runId(id), step, readPaging(request.query))
    },
  })

  api.route({
    method: 'POST',
    url: `${STEP_URL}/approve`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Agree to what a step asks', params, body: StepApproval },
    handler: (request, reply) => {
      const { id, step } = request.params
      const { input, message } = request.body
      checkInput(input, 'input')
      const answer = { isGiven: true, input: input as Json | undefined, message }
      return steps.answer(whoOf(request), runId(id), step, answer, whenGone(reply))
    },
  })

  api.route({
    method: 'POST',
    url: `${STEP_URL}/refuse`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Refuse what a step asks', params, body: StepRefusal },
    handler: (request, reply) => {
      const { id, step } = request.params
      const answer = { isGiven: false, ...request.body }
      return steps.answer(whoOf(request), runId(id), step, answer, whenGone(reply))
    },
  })

  api.route({
    method: 'POST',
    url: `${STEP_URL}/skip`,
    config: { ...deciding, reference: decided },
    schema: { summary: 'Go on without a step', params, body: StepSkip },
    handler: (request, reply) => {
      const { id, step } = request.params
      return steps.skip(byOf(request), runId(id), step, request.body.item, whenGone(reply))
    },
  })

  api.route({
    method: 'GET',
    url: '/v1/jobs/:name/steps',
    config: {
      ...looking,
      reference: { answers: { 200: 'JobStepPage' }, problems: ['job_not_found'] },
    },
    schema: {
      summary: 'List the steps of a job, and how they went lately',
      params: NamePath,
      querystring: Paging,
    },
    handler: (request) =>
      steps.ofJob(projectOf(request), request.params.name, readPaging(request.query)),
  })
}

/** The token of the installation may answer for everybody. */
function whoOf(request: Parameters<typeof byOf>[0]) {
  const { tokenId, name: called } = request.caller
  return { ...byOf(request), name: tokenId === null ? null : called }
}
