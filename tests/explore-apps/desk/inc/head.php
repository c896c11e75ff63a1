<!DOCTYPE html>
<html><head><title>Desk</title></head><body>
