import type { Route } from '../http/route-table.ts'

interface Chapter {
  readonly name: string
  readonly description: string
  readonly routes: RegExp
}

/** The chapter for paths of the compatibility protocols. */
export const COMPAT_TAG = 'Compatibility'

/** The chapters of the reference, in the order in which a new user meets them. */
const CHAPTERS: readonly Chapter[] = [
  {
    name: 'Runs',
    description: 'Submit work, follow it, cancel and repeat it.',
    routes: / \/v1\/runs(?!\/\{id\}\/logs)/,
  },
  {
    name: 'Logs and events',
    description: 'The output of runs, and live events.',
    routes: / \/v1\/(runs\/\{id\}\/logs|events)/,
  },
  {
    name: 'Jobs',
    description: 'Named work: define it once, run it often.',
    routes: / \/v1\/(jobs(?!\/\{name\}\/schedules)|hooks)/,
  },
  {
    name: 'Schedules',
    description: 'When jobs run automatically, and the outcome of every time.',
    routes: / \/v1\/(jobs\/\{name\}\/schedules|schedules|away|forecast|backfills)/,
  },
  {
    name: 'Queues and workers',
    description: 'Waiting runs, and connected workers.',
    routes: / \/v1\/queues|^GET \/v1\/workers$/,
  },
  {
    name: 'Secrets',
    description: 'Confidential values for runs, which no request returns.',
    routes: / \/v1\/secret/,
  },
  {
    name: 'Webhooks',
    description: 'Notify other programs when runs fail and recover.',
    routes: / \/v1\/webhooks/,
  },
  {
    name: 'Access',
    description: 'Tokens and the audit log.',
    routes: / \/v1\/(tokens|audit)/,
  },
  {
    name: 'Worker protocol',
    description: 'For authors of workers; the client library implements it.',
    routes: /^POST \/v1\/workers/,
  },
  {
    name: COMPAT_TAG,
    description: 'Two older protocols, for programs that already use them.',
    routes: / \/(jobs|job|submit|workers)(\/|$)/,
  },
  {
    name: 'Server',
    description: 'Health, metrics, storage, and this reference.',
    routes: / \/(livez|readyz|metrics|openapi\.json|schema\/v1\/job\.json|v1\/storage)$/,
  },
]

export const TAGS = CHAPTERS.map(({ name, description }) => ({ name, description }))

export function tagOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const chapter = CHAPTERS.find(({ routes }) => routes.test(`${method} ${path}`))
  if (!chapter) throw new Error(`${method} ${path} stands in no chapter of reference/tags.ts`)
  return chapter.name
}
