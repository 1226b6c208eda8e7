/** The program that eventstore-process.ts starts. */
import { runEventStoreProcess } from './eventstore/process.js';

void runEventStoreProcess(process.env);
