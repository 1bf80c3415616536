-- The first tenant, and the system user that the scheduler acts as. Their ids are created by the database.
-- Row level security holds the owner of the tables, too, and must be lifted for a moment.
ALTER TABLE tenant NO FORCE ROW LEVEL SECURITY;
ALTER TABLE "user" NO FORCE ROW LEVEL SECURITY;
INSERT INTO tenant (name, is_operator) VALUES ('default', true);
INSERT INTO "user" (name, role, is_system) VALUES ('scheduler', 'operator', true);
ALTER TABLE tenant FORCE ROW LEVEL SECURITY;
ALTER TABLE "user" FORCE ROW LEVEL SECURITY;
