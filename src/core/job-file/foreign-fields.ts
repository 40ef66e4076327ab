/** Field names of other schedulers, and what to write instead. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  command: 'Write run: for a line of a shell, or argv: for a program and its arguments.',
  cmd: 'Write run: for a line of a shell, or argv: for a program and its arguments.',
  after: 'Write triggers: with a list of - after: and the name of a job.',
  depends: 'Write needs: with the names of the steps before.',
  depends_on: 'Write needs: with the names of the steps before.',
  environment: 'Write env:.',
  keep: 'How long runs are kept is a setting of the server.',
  notify: 'Make a webhook: punctual webhook add --help says how.',
  on: 'Write schedule: or triggers:.',
  output: 'Let the command write JSON to the file that $PUNCTUAL_OUTPUT names; that is its output.',
  resources: 'Write limits:, with memory and cpu.',
  retires: 'Write retry: with how many may follow the first attempt.',
  retries: 'Write retry: with how many may follow the first attempt.',
  from: 'Write delay:, how long to wait before the second attempt.',
  to: 'Write max_delay:, beyond which the delay does not grow.',
  only: 'Write on:, the causes that are worth another attempt.',
  tz: 'Write timezone:.',
  when_failed: 'Write when: any-failed.',
}

/** The same for names that mean something else, or nothing, elsewhere in a file. */
const REPLACEMENTS_BY_PLACE: readonly [place: RegExp, replacement: string][] = [
  [/^name$/, 'The name of the file is the name of the job: backup.job.yaml defines backup.'],
  [/^(?:.*\.)?runs_on\.[^.]+$/, 'Labels go one level deeper: runs_on: { labels: { gpu: a100 } }.'],
]

export function replacementFor(field: string): string | undefined {
  const placed = REPLACEMENTS_BY_PLACE.find(([place]) => place.test(field))
  if (placed) return placed[1]
  const name = field.split('.').at(-1) ?? ''
  return Object.hasOwn(REPLACEMENTS, name) ? REPLACEMENTS[name] : undefined
}
