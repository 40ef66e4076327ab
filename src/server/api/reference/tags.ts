import type { Route } from '../http/route-table.ts'

interface Chapter {
  readonly name: string
  readonly description: string
  readonly routes: RegExp
}

/** The chapter of paths that are not ours. */
export const PLAIN = 'Compatibility'

/** The chapters of the reference, in the order in which a newcomer meets them. */
const CHAPTERS: readonly Chapter[] = [
  {
    name: 'Runs',
    description: 'Submit work, see what became of it, cancel and repeat it.',
    routes: / \/v1\/runs(?!\/\{id\}\/logs)/,
  },
  {
    name: 'Logs and events',
    description: 'What runs printed, and what happens to them while it happens.',
    routes: / \/v1\/(runs\/\{id\}\/logs|events)/,
  },
  {
    name: 'Jobs',
    description: 'Work with a name: define it once, run it often.',
    routes: / \/v1\/(jobs(?!\/\{name\}\/schedules)|hooks)/,
  },
  {
    name: 'Schedules',
    description: 'When jobs run by themselves, and what became of every time.',
    routes: / \/v1\/(jobs\/\{name\}\/schedules|schedules|away|forecast|backfills)/,
  },
  {
    name: 'Queues and workers',
    description: 'What waits, and who works.',
    routes: / \/v1\/queues|^GET \/v1\/workers$/,
  },
  {
    name: 'Secrets',
    description: 'What runs must know and nobody may read.',
    routes: / \/v1\/secret/,
  },
  {
    name: 'Webhooks',
    description: 'Tell other programs when runs fail and when they recover.',
    routes: / \/v1\/webhooks/,
  },
  {
    name: 'Access',
    description: 'Tokens, and the record of who changed what.',
    routes: / \/v1\/(tokens|audit)/,
  },
  {
    name: 'Worker protocol',
    description: 'For those who write a worker; the library speaks it by itself.',
    routes: /^POST \/v1\/workers/,
  },
  {
    name: PLAIN,
    description: 'Plain paths of two older protocols, for programs that speak them already.',
    routes: / \/(jobs|job|submit|workers)(\/|$)/,
  },
  {
    name: 'Server',
    description: 'Health, figures, storage, and this reference.',
    routes: / \/(livez|readyz|metrics|openapi\.json|schema\/v1\/job\.json|v1\/storage)$/,
  },
]

export const TAGS = CHAPTERS.map(({ name, description }) => ({ name, description }))

export function tagOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const chapter = CHAPTERS.find(({ routes }) => routes.test(`${method} ${path}`))
  if (!chapter) throw new Error(`${method} ${path} stands in no chapter of reference/tags.ts`)
  return chapter.name
}
