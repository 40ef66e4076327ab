import type { JobDefinition } from '../../core/job/job-definition.ts'

/** What a job does, on one line. */
export function summarizeJob(definition: JobDefinition, name: string): string {
  const { run, argv, script, http, container, steps, task } = definition
  if (steps !== undefined) return countOf(Array.isArray(steps) ? steps : Object.keys(steps))
  if (http) return `${http.method ?? 'GET'} ${http.url}`
  if (container) {
    return ['container', container.image, ...(container.command ?? [])].join(' ')
  }
  const text = run ?? argv?.join(' ') ?? script ?? `task ${task ?? name}`
  const [first = '', ...more] = text.trim().split('\n')
  return more.length === 0 ? first : `${first} …`
}

function countOf({ length }: readonly unknown[]): string {
  return length === 1 ? '1 step' : `${length} steps`
}
