CREATE TABLE account(id INT PRIMARY KEY, name VARCHAR(12) NOT NULL, kind VARCHAR(12), note VARCHAR(20), amount INT);
INSERT INTO account VALUES (1,'bank','a','x',3),(2,'cash','b','y',9);
