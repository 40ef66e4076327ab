import type { WireWorker } from '../core/views.ts'

const HOLDS: Readonly<Record<string, string>> = {
  pidns: 'in a PID namespace of their own, which nothing leaves',
  cgroup: 'in a control group of their own, which nothing leaves',
  group: 'as process groups; what breaks away is looked for',
}

/** How surely workers hold their processes, a sentence for each way there is. */
export function describeExecution(workers: readonly WireWorker[]): string[] {
  const byWords = new Map<string, string[]>()
  for (const worker of workers) {
    const words = wordsFor(worker)
    if (words !== undefined) byWords.set(words, [...(byWords.get(words) ?? []), worker.name])
  }
  return Array.from(byWords, ([words, names]) => `${whose(names)} ${words}`)
}

function whose(names: readonly string[]): string {
  const [first] = names
  return names.length === 1 ? `${first} holds` : `${names.length} workers, such as ${first}, hold`
}

function wordsFor({ execution, users }: WireWorker): string | undefined {
  if (!execution) return undefined
  const { launcher, containment, limits, why } = execution
  const parts = [
    `processes ${HOLDS[containment] ?? `by ${containment}`} (${launcher} launcher)`,
    `limits: ${limits.join(', ') || 'none'}`,
    `users: ${users.join(', ') || "the worker's own"}`,
    ...(why === undefined ? [] : [`not better because ${why}`]),
  ]
  return parts.join('; ')
}
