int Int INT if If while whilE
return_ _return returned struct1
