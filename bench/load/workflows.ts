/** The workflows of the `dag` scenario. Steps call a function that does nothing, except in `short` and `long`. */
export const STEP_TASK = 'noop'
export const WORKFLOW_SHAPES = ['wide', 'chain', 'many', 'short', 'long'] as const
export type WorkflowShape = (typeof WORKFLOW_SHAPES)[number]

type Step = Readonly<Record<string, unknown>>

/** The `steps` of a job definition with `count` steps. */
export function createSteps(
  shape: WorkflowShape,
  count: number,
): readonly Step[] | Record<string, Step> {
  switch (shape) {
    case 'wide':
      return fanOutAndIn(count)
    case 'short':
      return Array.from({ length: count }, () => fibonacci(10))
    case 'long':
      return Array.from({ length: count }, () => fibonacci(33))
    default:
      return Array.from({ length: count }, () => ({ task: STEP_TASK }))
  }
}

/** One first step, `count - 2` parallel steps, and a last step that needs them all. */
function fanOutAndIn(count: number): Record<string, Step> {
  const sides = Array.from({ length: count - 2 }, (_, index) => `side-${index}`)
  return {
    first: { task: STEP_TASK },
    ...Object.fromEntries(sides.map((name) => [name, { task: STEP_TASK, needs: 'first' }])),
    last: { task: STEP_TASK, needs: sides },
  }
}

/** The Python task of a comparison that other projects have published. */
function fibonacci(n: number): Step {
  const lines = [
    'def fibo(n):',
    '    return n if n <= 1 else fibo(n - 1) + fibo(n - 2)',
    `fibo(${n})`,
  ]
  return { script: lines.join('\n'), interpreter: 'python3' }
}
