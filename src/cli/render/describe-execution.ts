import { PROCESS_EXECUTORS } from '../../core/work/work.ts'
import type { WireWorker } from '../../core/wire/views.ts'

const CONTAINMENT_TEXTS: Readonly<Record<string, string>> = {
  pidns: 'in PID namespaces, which processes cannot leave',
  cgroup: 'in control groups, which processes cannot leave',
  group: 'in process groups; processes that leave their group are searched for',
}

const SECRET_FILE_TEXTS: Readonly<Record<string, string>> = {
  private: 'in memory that only their attempt can read and that is freed when it ends',
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
  return `${who} commands as root unless they name a user`
}

function whose(names: readonly string[]): string {
  const [first] = names
  return names.length === 1
    ? `${first} contains`
    : `${names.length} workers, such as ${first}, contain`
}

function wordsFor({ execution, users }: WireWorker): string | undefined {
  if (!execution) return undefined
  const { launcher, containment, limits, secret_files: secrets = '', why } = execution
  const parts = [
    `processes ${CONTAINMENT_TEXTS[containment] ?? `by ${containment}`} (${launcher} launcher)`,
    `limits: ${limits.join(', ') || 'none'}`,
    `users: ${users.join(', ') || "the worker's own"}`,
    ...(SECRET_FILE_TEXTS[secrets] === undefined
      ? []
      : [`files of secrets: ${SECRET_FILE_TEXTS[secrets]}`]),
    ...(why === undefined ? [] : [`nothing stronger is available because ${why}`]),
  ]
  return parts.join('; ')
}
