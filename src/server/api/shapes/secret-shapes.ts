import type { WireRotation, WireSecret, WireSecretKeys } from '../../../core/wire/views.ts'
import { list, page, record, text, time, whole } from './shapes.ts'

const keys = {
  keys: list(
    record<WireSecretKeys['keys'][number]>('A key, by its id alone.', {
      id: text('As it stands in the key file.'),
      secrets: whole('How many secrets of the installation are sealed with it.'),
    }),
    'Every key that is in use. One that is not listed may be removed from the key files.',
  ),
}

/** What is said about secrets, which is everything but themselves. */
export const SECRET_SHAPES = {
  Secret: record<WireSecret>('A secret, without its value.', {
    name: text('Unique within its project.'),
    version: whole('Counted from 1; every value is a new one.', { minimum: 1 }),
    updated_at: time('When this value was set.'),
    updated_by: text('The name of the token it was set with.'),
    key: text('The id of the key it is sealed with.'),
  }),
  SecretPage: page('Secret'),
  SecretKeys: record<WireSecretKeys>('The keys that secrets are sealed with.', keys),
  Rotation: record<WireRotation>('What became of the secrets of all projects.', {
    key: text('The key they are sealed with now.'),
    resealed: whole('How many were sealed with another one before.'),
    broken: list({ type: 'string' }, 'Those that could not be opened, and are as they were.'),
    ...keys,
  }),
}
