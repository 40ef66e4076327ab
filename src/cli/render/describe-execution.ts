import { PROCESS_EXECUTORS } from '../../core/work/work.ts'
import type { WireWorker } from '../../core/wire/views.ts'

const HOLDS: Readonly<Record<string, string>> = {
  pidns: 'in a PID namespace of their own, which nothing leaves',
  cgroup: 'in a control group of their own, which nothing leaves',
  group: 'as process groups; processes that break away are searched for',
}

const SECRETS: Readonly<Record<string, string>> = {
  private: 'in memory that only their attempt sees and that goes with it',
  memory: 'in memory; the launcher deletes them, or the next worker if both were killed',
  disk: 'on a disk; the launcher deletes them, or the next worker if both were killed',
}

/** How reliably workers contain their processes: one sentence per level of containment. */
export function describeExecution(workers: readonly WireWorker[]): string[] {
  const byWords = new Map<string, string[]>()
  for (const worker of workers) {
    const words = wordsFor(worker)
    if (words !== undefined) byWords.set(words, [...(byWords.get(words) ?? []), worker.name])
  }
  return Array.from(byWords, ([words, names]) => `${whose(names)} ${words}`)
}

const isOfProcesses = (name: string) => PROCESS_EXECUTORS.some((one) => one === name)

/** Names workers that run commands as root without their operator's confirmation. */
export function describeRoot(workers: readonly WireWorker[]): string | undefined {
  const names = workers
    .filter(({ execution, executors }) => execution?.root && executors.some(isOfProcesses))
    .map(({ name }) => name)
  if (names.length === 0) return undefined
  const [first] = names
  const who =
    names.length === 1 ? `${first} runs` : `${names.length} workers, such as ${first}, run`
  return `${who} commands as root that name no user`
}

function whose(names: readonly string[]): string {
  const [first] = names
  return names.length === 1 ? `${first} holds` : `${names.length} workers, such as ${first}, hold`
}

function wordsFor({ execution, users }: WireWorker): string | undefined {
  if (!execution) return undefined
  const { launcher, containment, limits, secret_files: secrets = '', why } = execution
  const parts = [
    `processes ${HOLDS[containment] ?? `by ${containment}`} (${launcher} launcher)`,
    `limits: ${limits.join(', ') || 'none'}`,
    `users: ${users.join(', ') || "the worker's own"}`,
    ...(SECRETS[secrets] === undefined ? [] : [`files of secrets: ${SECRETS[secrets]}`]),
    ...(why === undefined ? [] : [`not better because ${why}`]),
  ]
  return parts.join('; ')
}
