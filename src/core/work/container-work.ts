import { isEngineVariable } from './variable.ts'
import type { StartableWork } from './work.ts'
import { checkArgument, checkCommandLine, checkText, workFieldError } from './check-text.ts'

/** A container to run, as it is stored and sent to a worker. */
export interface ContainerWork extends StartableWork {
  readonly executor: 'container'
  readonly image: string
  /** Arguments of the image's entrypoint; the program itself if the image has no entrypoint. */
  readonly command?: readonly string[]
  /** Replaces the entrypoint of the image. */
  readonly entrypoint?: readonly string[]
  readonly mounts?: readonly Mount[]
  readonly workdir?: string
  /** A user of the image: a name or numeric ids. */
  readonly user?: string
  readonly network?: Network
  readonly pull?: Pull
}

export interface Mount {
  /** A path on the worker's host; the worker must allow it. */
  readonly source: string
  readonly target: string
  readonly readonly?: boolean | undefined
}

export const NETWORKS = ['default', 'none'] as const
export type Network = (typeof NETWORKS)[number]
export const PULLS = ['missing', 'never', 'always'] as const
export type Pull = (typeof PULLS)[number]

/** A container as users write it. `env`, `stdin` and `limits` are fields next to it. */
export interface ContainerInput {
  readonly image: string
  readonly command?: readonly string[] | undefined
  readonly entrypoint?: readonly string[] | undefined
  readonly mounts?: readonly Mount[] | undefined
  readonly workdir?: string | undefined
  readonly user?: string | undefined
  readonly network?: Network | undefined
  readonly pull?: Pull | undefined
}

/** Names that engines accept as an image and cannot read as an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$/
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,31})?$/
/** Engines write mounts as lists separated by commas and colons, and give some characters a meaning of their own. */
const PATH = /^\/[^,:"'\\\p{Cc}]*$/u

export function readContainer(
  input: ContainerInput,
  at: string,
  env: Readonly<Record<string, string>> = {},
): ContainerWork {
  const { image, command, entrypoint, mounts, workdir, user, network, pull } = input
  if (!IMAGE.test(image)) throw workFieldError(`${at}image`, 'is not the name of an image')
  for (const [index, word] of (command ?? []).entries())
    checkArgument(word, `${at}command.${index}`)
  if (user !== undefined && !USER.test(user)) {
    throw workFieldError(`${at}user`, 'must be a user of the image, such as app or 1000:1000')
  }
  checkVariables(env, at.replace('container.', 'env.'))
  return {
    executor: 'container',
    image,
    ...(command === undefined ? {} : { command }),
    ...(entrypoint === undefined
      ? {}
      : { entrypoint: checkCommandLine(entrypoint, `${at}entrypoint`) }),
    ...(mounts === undefined ? {} : { mounts: mountsOf(mounts, `${at}mounts`) }),
    ...(workdir === undefined ? {} : { workdir: path(workdir, `${at}workdir`) }),
    ...(user === undefined ? {} : { user }),
    ...(network === undefined ? {} : { network }),
    ...(pull === undefined ? {} : { pull }),
  }
}

function mountsOf(mounts: readonly Mount[], field: string): readonly Mount[] {
  for (const [index, { source, target }] of mounts.entries()) {
    path(source, `${field}.${index}.source`)
    path(target, `${field}.${index}.target`)
    if (target === '/' || mounts.findIndex((other) => other.target === target) < index) {
      throw workFieldError(`${field}.${index}.target`, 'is used twice')
    }
  }
  return mounts
}

/** Paths contain no `..`, so that a worker can check the text against its allowed directories. */
function path(value: string, field: string): string {
  if (PATH.test(checkText(value, field)) && !value.split('/').includes('..')) return value
  throw workFieldError(field, 'must be an absolute path without "..", commas, colons or quotes')
}

/** Variables that engines interpret are passed in an env file and not in the engine's own environment. */
function checkVariables(env: Readonly<Record<string, string>>, at: string): void {
  for (const [name, value] of Object.entries(env)) {
    if (!isEngineVariable(name) || !/[\n\r]/.test(value)) continue
    throw workFieldError(
      `${at}${name}`,
      'contains a line break, which a container cannot receive in this variable',
    )
  }
}
