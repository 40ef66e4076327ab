/** The graphs that `dag` offers. Steps are calls of one function that does nothing, unless they compute. */
export const STEP_TASK = 'noop'
export const SHAPES = ['wide', 'chain', 'many', 'short', 'long'] as const
export type Shape = (typeof SHAPES)[number]

type Step = Readonly<Record<string, unknown>>

/** What `steps` of a job has to be for `count` of them. */
export function stepsOf(shape: Shape, count: number): readonly Step[] | Record<string, Step> {
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

/** One, then all but two of them side by side, then one that needs them all. */
function fanOutAndIn(count: number): Record<string, Step> {
  const sides = Array.from({ length: count - 2 }, (_, index) => `side-${index}`)
  return {
    first: { task: STEP_TASK },
    ...Object.fromEntries(sides.map((name) => [name, { task: STEP_TASK, needs: 'first' }])),
    last: { task: STEP_TASK, needs: sides },
  }
}

/** The task of a comparison that others have published, in their language. */
function fibonacci(n: number): Step {
  const lines = [
    'def fibo(n):',
    '    return n if n <= 1 else fibo(n - 1) + fibo(n - 2)',
    `fibo(${n})`,
  ]
  return { script: lines.join('\n'), interpreter: 'python3' }
}
