import { z } from 'zod';
import { roles } from '../../../domain/kernel/roles.js';
import { id, time } from '../../kernel/schemas.js';

export const userShape = z.object({ id: id('user'), name: z.string(), role: z.enum(roles), createdAt: time() });
