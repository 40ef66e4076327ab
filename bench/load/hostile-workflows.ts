import { LIMITS } from '../../src/core/limits.ts'
import { hostileGet, type HostileRequest, hostilePost, hostilePut } from './hostile-requests.ts'

/** Workflow definitions of the maximum size. */
export function hostileWorkflows(): HostileRequest[] {
  const expressions = (count: number, between: string) =>
    Array.from({ length: count }, (_, index) => `${between}\${{input.x${index % 10}}}`).join('')
  const input = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`x${index}`, { type: 'string', default: 'a' }]),
  )
  const steps = (count: number, step: (index: number) => object) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, step(index)]))
  const define = (name: string, job: string, definition: () => object, status = 201) =>
    hostilePut(`workflow: ${name}`, `/v1/jobs/${job}`, definition, status)
  return [
    define('10 steps of 4,000 expressions', 'expressions', () => ({
      input,
      steps: steps(10, () => ({ run: `echo${expressions(4_000, ' ')}` })),
    })),
    define('10 steps of 3,000 commands', 'commands', () => ({
      input,
      steps: steps(10, () => ({ run: expressions(3_000, '\necho ') })),
    })),
    define('10 steps of 4,000 expressions in env', 'variables', () => ({
      input,
      steps: steps(10, () => ({ run: 'true', env: { A: expressions(4_000, ' ') } })),
    })),
    define('one command of 64 KB', 'words', () => ({
      input,
      steps: steps(10, () => ({ run: `echo ${'a '.repeat(32_000)}\${{ input.x1 }}` })),
    })),
    define(
      'a text of 60 KB of brackets',
      'brackets',
      () => ({
        input,
        steps: steps(10, () => ({ run: `echo ${'$('.repeat(30_000)}\${{ input.x1 }}` })),
      }),
      422,
    ),
    define('an expression of 64 KB', 'long', () => ({
      input,
      steps: steps(10, () => ({
        run: 'true',
        if: `\${{ ${'input.x1 == "a" && '.repeat(3_300)} true }}`,
      })),
    })),
    define('a step with a list of 100,000 items', 'items', () => ({
      steps: { one: { run: 'true', each: Array.from({ length: LIMITS.steps }, (_, nth) => nth) } },
    })),
    define(
      'a `with` of 400,000 expressions',
      'with',
      () => ({
        input,
        steps: {
          one: {
            task: 't',
            with: Array.from({ length: 400_000 }, (_, nth) => `\${{ input.x${nth % 50} }}`),
          },
        },
      }),
      422,
    ),
    define('a `with` of 8 MB', 'with', () => ({
      input,
      steps: { one: { task: 't', with: Array.from({ length: 4 * 2 ** 20 - 2 }, () => 0) } },
    })),
    define('a `with` of 20,000 expressions', 'with-expressions', () => ({
      input,
      steps: {
        one: {
          task: 't',
          with: Array.from({ length: LIMITS.stepExpressions }, () => '${{ input.x1 }}'),
        },
      },
    })),
    define('100,000 steps', 'steps', () => ({
      steps: steps(LIMITS.steps, () => ({ run: 'true' })),
    })),
    define('a million edges', 'edges', () => ({
      steps: steps(2_000, (index) => ({
        task: 't',
        ...(index < 1_000
          ? {}
          : { needs: Array.from({ length: 1_000 }, (_, other) => `s${other}`) }),
      })),
    })),
    define(
      '100,000 steps, one of them wrong',
      'wrong',
      () => ({
        steps: steps(LIMITS.steps, (index) => ({ run: index === 99_999 ? 1 : 'true' })),
      }),
      422,
    ),
    define(
      'a million steps, too many',
      'too-many',
      () => ({ steps: steps(900_000, () => ({})) }),
      400,
    ),
    hostileGet('workflow of 100,000 steps, shown', '/v1/jobs/steps'),
    hostileGet('jobs with large definitions, listed', '/v1/jobs'),
    hostileGet('steps of a workflow of 100,000', '/v1/jobs/steps/steps'),
    hostilePost(
      'workflow of 10 steps of 4,000 expressions, begun',
      '/v1/jobs/expressions/runs',
      () => ({}),
      201,
    ),
    hostilePost('workflow of 100,000 steps, begun', '/v1/jobs/steps/runs', () => ({}), 201),
    hostilePost('workflow of a million edges, begun', '/v1/jobs/edges/runs', () => ({}), 201),
  ]
}
