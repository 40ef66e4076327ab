import type { Problem } from '../../../core/wire/runs.ts'
import { record, text, whole } from './shapes.ts'

export const PROBLEM_SHAPES = {
  Problem: record<Problem>(
    'What went wrong (RFC 9457): the code is for programs, the rest for people.',
    {
      type: text('`/errors/` and the code.'),
      title: text('The code in plain words.'),
      status: whole('The status of the answer.', { minimum: 400, maximum: 599 }),
      code: text('For programs; it never changes its meaning.', { examples: ['unknown_field'] }),
      detail: text('What went wrong this time.'),
      hint: text('What to do next.'),
      field: text('The part of the request that is wrong.', { examples: ['runs.3.priority'] }),
      request_id: text('Finds the request in the server’s log.'),
    },
    ['field'],
  ),
}
