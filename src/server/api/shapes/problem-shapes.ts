import type { WireProblem } from '../../../core/wire/runs.ts'
import { objectShape, textShape, integerShape } from './shapes.ts'

export const PROBLEM_SHAPES = {
  Problem: objectShape<WireProblem>(
    'What went wrong (RFC 9457): the code is for programs, the rest for people.',
    {
      type: textShape('`/errors/` and the code.'),
      title: textShape('The code in plain words.'),
      status: integerShape('The status of the answer.', { minimum: 400, maximum: 599 }),
      code: textShape('For programs; it never changes its meaning.', {
        examples: ['unknown_field'],
      }),
      detail: textShape('What went wrong this time.'),
      hint: textShape('What to do next.'),
      field: textShape('The part of the request that is wrong.', { examples: ['runs.3.priority'] }),
      request_id: textShape('Finds the request in the server’s log.'),
    },
    ['field'],
  ),
}
